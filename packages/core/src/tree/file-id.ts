import { fstatSync, statSync } from 'node:fs'

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
