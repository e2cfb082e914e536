import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { type FileId, isSameFile } from '../tree/file-id.js'

/** How long a log may grow, and what is kept of it then, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024
const KEPT_BYTES = 1024 * 1024

/**
 * Cuts a log that has grown too long to its end. Its writers append, so they write on behind what is kept.
 * @param files those that Custody has made: whatever else has come to stand at the path is not touched
 * @returns whether it was cut
 */
export function cutLog(
  path: string,
  files: readonly FileId[],
  maxBytes: number = MAX_BYTES,
  keptBytes: number = KEPT_BYTES,
): boolean {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND | NOT_THROUGH_LINKS)
  try {
    const { dev, ino, size } = fstatSync(descriptor)
    if (size <= maxBytes || !files.some((file) => isSameFile(file, { dev, ino }))) return false
    const kept = Buffer.alloc(Math.min(keptBytes, size))
    readSync(descriptor, kept, 0, kept.length, size - kept.length)
    ftruncateSync(descriptor)
    writeSync(descriptor, kept)
    return true
  } finally {
    closeSync(descriptor)
  }
}

/** Nor does it wait for a FIFO. Windows has neither flag. */
const NOT_THROUGH_LINKS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
