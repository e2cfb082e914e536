import { copyFileSync, cpSync, linkSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The ways by which a file of A gets into B. Each puts it where B's own daemon would publish.
 * @type {readonly { how: string, borrow(from: string, to: string): void, verdict: string, keepsOriginal: boolean }[]}
 */
export const ways = [
  { how: 'a plain copy', borrow: copyFileSync, verdict: 'foreign', keepsOriginal: true },
  { how: 'a hard link', borrow: linkSync, verdict: 'foreign', keepsOriginal: true },
  // A link at the end of a path is refused before anybody is asked.
  { how: 'a symbolic link', borrow: symlinkSync, verdict: 'invalid', keepsOriginal: true },
  { how: 'a symbolic link to the directory', borrow: linkDirectory, verdict: 'foreign', keepsOriginal: true },
  { how: 'a copy of the directory', borrow: copyDirectory, verdict: 'foreign', keepsOriginal: true },
  { how: 'the renamed directory itself', borrow: renameDirectory, verdict: 'foreign', keepsOriginal: false },
]

/** Puts A's locator, by one of the ways, into B's home, and returns its path there. */
export function borrowLocator({ borrow }, from, homeOfB) {
  const to = join(homeOfB, '.greeter', 'daemon.json')
  const isWholeDirectory = borrow === linkDirectory || borrow === renameDirectory
  mkdirSync(isWholeDirectory ? homeOfB : dirname(to), { recursive: true, mode: 0o700 })
  borrow(from, to)
  return to
}

function linkDirectory(from, to) {
  symlinkSync(dirname(from), dirname(to))
}

function copyDirectory(from, to) {
  cpSync(dirname(from), dirname(to), { recursive: true })
}

function renameDirectory(from, to) {
  renameSync(dirname(from), dirname(to))
}
