import { fstatSync, statSync } from 'node:fs'
import { platform } from '../platform/index.js'

/** A file as the kernel knows it, whatever its name is now. */
export interface FileId {
  readonly dev: number
  readonly ino: number
}

export function fileIdOf(file: number | string): FileId {
  const { dev, ino } = typeof file === 'number' ? fstatSync(file) : statSync(file)
  return { dev, ino }
}

export function isSameFile(a: FileId, b: FileId): boolean {
  return a.dev === b.dev && a.ino === b.ino
}

/** Whether a process has one of these files open for writing. */
export function holdsFile(pid: number, files: readonly FileId[]): boolean {
  return platform.listWrittenFiles(pid).some((held) => files.some((each) => isSameFile(each, held)))
}
