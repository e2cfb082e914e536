import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { CustodyError } from '../errors.js'
import { platform } from '../platform/index.js'
import { LOCATOR_BYTES, type Locator, parseLocator } from './locator.js'

/**
 * Reads a locator as untrusted input: it follows no final link, does not wait for a FIFO, and reads no more than a locator may have.
 * Reading a locator proves nothing about the process that it names.
 *
 * @param path the locator's file
 * @returns its fields, each of which has been checked for its form
 * @throws CUSTODY_LOCATOR_MISSING when there is no file
 * @throws CUSTODY_LOCATOR_INVALID when it is not a private regular file of this user, or not a locator
 */
export function readLocator(path: string): Locator {
  const parsed = parseLocator(readPrivateFile(path))
  if ('problem' in parsed) throw invalid(path, parsed.problem)
  return parsed.locator
}

function readPrivateFile(path: string): string {
  const descriptor = open(path)
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw invalid(path, 'it is not a regular file')
    if (platform.hasFileModes && stat.uid !== process.geteuid?.()) throw invalid(path, `it belongs to the user ${stat.uid}`)
    if (platform.hasFileModes && (stat.mode & 0o077) !== 0) {
      throw invalid(path, `its mode is ${(stat.mode & 0o777).toString(8).padStart(4, '0')}, so that others can reach it`)
    }
    // Files of /proc say size 0 and still have bytes: size and bytes must agree.
    const bytes = Buffer.alloc(LOCATOR_BYTES + 1)
    const length = readSync(descriptor, bytes, 0, bytes.length, 0)
    if (length > LOCATOR_BYTES) throw invalid(path, `it has more than ${LOCATOR_BYTES} bytes`)
    if (length === 0 || length !== stat.size) throw invalid(path, 'it is empty or was changed while it was read')
    if (!isUtf8(bytes.subarray(0, length))) throw invalid(path, 'it is not UTF-8')
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}

function open(path: string): number {
  // Windows has none of these three, and Node's types say they are always there.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants as Partial<typeof constants>
  try {
    return openSync(path, (O_RDONLY ?? 0) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new CustodyError('CUSTODY_LOCATOR_MISSING', `Could not read the locator ${path}: there is no such file.`, {
        hint: 'check the path, and whether the runtime has published its locator or has left already.',
        facts: { path },
        cause: error,
      })
    }
    throw invalid(path, code === 'ELOOP' ? 'it is a symbolic link' : `it cannot be opened (${code})`, error)
  }
}

function invalid(path: string, reason: string, cause?: unknown): CustodyError {
  return new CustodyError('CUSTODY_LOCATOR_INVALID', `Could not read the locator ${path}: ${reason}.`, {
    hint: 'a locator is a regular file of your own with mode 0600, written by serveRuntime; start the runtime again to get one.',
    facts: { path, reason },
    cause,
  })
}
