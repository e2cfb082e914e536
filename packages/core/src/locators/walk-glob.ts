import { type Dirent, readdirSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import picomatch from 'picomatch'

/** How many directory entries one glob may look at. A test that left a whole project behind must not make each teardown slow. */
const MAX_ENTRIES = 20_000

export interface GlobWalk {
  readonly paths: readonly string[]
  /** Whether the walk ended at its bound. */
  readonly isCutShort: boolean
}

/** The files that match one glob. Symbolic links are neither followed nor left out: whoever reads them decides. */
export function walkGlob(glob: string, base: string | null): GlobWalk {
  if (!isAbsolute(glob) && base === null) return { paths: [], isCutShort: false }
  // The base is a directory as it is: what looks like a pattern in its name is none.
  const { base: fixed, glob: pattern } = picomatch.scan(glob.split(sep).join('/'))
  const root = resolve(base ?? '/', fixed)
  if (pattern === '') return { paths: [root], isCutShort: false }
  const isMatch = picomatch(pattern, { dot: true })
  const depth = pattern.includes('**') ? Infinity : pattern.split('/').length

  const paths: string[] = []
  const queue: { directory: string; depth: number }[] = [{ directory: root, depth: 1 }]
  let seen = 0
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const entry of entriesOf(at.directory)) {
      if (++seen > MAX_ENTRIES) return { paths, isCutShort: true }
      const path = join(at.directory, entry.name)
      if (entry.isDirectory()) {
        if (at.depth < depth) queue.push({ directory: path, depth: at.depth + 1 })
      } else if (isMatch(relative(root, path).split(sep).join('/'))) paths.push(path)
    }
  }
  return { paths, isCutShort: false }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    // Gone since, or a directory that this user may not list: no locator of ours can be in it.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'EPERM') return []
    throw error
  }
}
