import { closeSync, openSync, readSync, writeSync } from 'node:fs'

const CHUNK_BYTES = 64 * 1024

interface WriteOptions {
  /** How it is opened. @default 'w' */
  readonly flag?: 'a' | 'w' | 'wx'
  /** The permissions of a new file. @default 0o600 */
  readonly mode?: number
}

/**
 * Reads a whole file, of any size or of none that is known, as in `/proc`. Node's `readFileSync` calls what stands as `openSync` on its
 * module, where tests put spies; so it is with writing.
 * @throws the system's error
 */
export function readText(path: string, encoding: 'latin1' | 'utf8' = 'utf8'): string {
  const file = openSync(path, 'r')
  try {
    const chunks: Buffer[] = []
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const length = readSync(file, chunk, 0, CHUNK_BYTES, null)
      if (length === 0) return Buffer.concat(chunks).toString(encoding)
      chunks.push(chunk.subarray(0, length))
    }
  } finally {
    closeSync(file)
  }
}

/** @throws the system's error */
export function writeText(path: string, text: string, { flag = 'w', mode = 0o600 }: WriteOptions = {}): void {
  const file = openSync(path, flag, mode)
  try {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
  } finally {
    closeSync(file)
  }
}

/**
 * Adds lines to a file of lines. They begin on a line of their own: whoever wrote last may have died within one, or found the disk full.
 * Readers leave out what is empty or half of one.
 * @throws the system's error
 */
export function appendLines(path: string, lines: readonly string[]): void {
  writeText(path, `\n${lines.join('\n')}\n`, { flag: 'a' })
}
