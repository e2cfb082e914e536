import { rmSync } from 'node:fs'
import { readOrNull, readText } from '@custody/runtime/internals'

/**
 * Where something is mounted on a directory or below it, or null. What is in a mount is somebody else's, and to remove a directory
 * with all that is in it goes on into that: a mounted directory of the same file system cannot be told from one that is not.
 *
 * @param directory its real path
 */
export function findMountIn(directory: string): string | null {
  const mounts = readOrNull(() => readText('/proc/self/mountinfo')) ?? ''
  for (const line of mounts.split('\n')) {
    // The kernel writes white space and backslashes in octal.
    const point = line.split(' ')[4]?.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
    if (point === directory || point?.startsWith(`${directory}/`)) return point
  }
  return null
}

/**
 * Removes a directory of the run's, or a file, with all that is in it. Where something is mounted in it, which Linux shows, nothing is removed.
 * @returns where that is, or null
 */
export function removeDirectory(path: string): string | null {
  const mount = findMountIn(path)
  if (mount === null) rmSync(path, { recursive: true, force: true })
  return mount
}
