import { appendFileSync, closeSync, openSync, readSync, statSync, truncateSync } from 'node:fs'

/** How long a log may grow, and what is kept of it then, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024
const KEPT_BYTES = 1024 * 1024

/**
 * Cuts a log that has grown too long to its end. Its writers append, so they write on behind what is kept.
 * @returns whether it was cut
 */
export function cutLog(path: string, maxBytes: number = MAX_BYTES, keptBytes: number = KEPT_BYTES): boolean {
  const { size } = statSync(path)
  if (size <= maxBytes) return false
  const kept = Buffer.alloc(Math.min(keptBytes, size))
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, kept, 0, kept.length, size - kept.length)
  } finally {
    closeSync(descriptor)
  }
  truncateSync(path, 0)
  appendFileSync(path, kept)
  return true
}
