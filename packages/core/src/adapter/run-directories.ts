import { readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  baseDirectory,
  CustodyError,
  ensurePrivateDirectory,
  hasCode,
  runtimePlatform,
  temporaryBaseDirectory,
} from '@custody/runtime/internals'
import { dir as makeDirectory } from 'tmp-promise'
import { readEvents } from '../report/events.js'
import type { RunHandle } from '../scope/run-handle.js'

// Node loads what removes directories with the first one, and keeps the file system that it finds then: a test's, where it spies on it.
rmSync(join(tmpdir(), 'custody-nothing'), { recursive: true, force: true })

/** Makes the directories of a run: that of its sockets has a short path, that of its namespaces may be the same. */
export async function makeRunDirectories(): Promise<Pick<RunHandle, 'directory' | 'storage'>> {
  const [base, storageBase] = [shortBaseDirectory(), temporaryBaseDirectory()]
  const directory = await newDirectory(base)
  if (base === storageBase) return { directory, storage: directory }
  try {
    return { directory, storage: await newDirectory(storageBase) }
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    throw error
  }
}

/** All that the run has on disk, apart from directories that are kept for people. */
export function pathsToRemove({ directory, storage }: RunHandle): string[] {
  const isKept = readEvents(directory).some(({ type }) => type === 'kept')
  if (!isKept) return [...new Set([storage, directory])]
  // What is kept stands among them when both are one directory.
  return directory === storage
    ? readdirSync(directory).flatMap((name) => (name === 'ns' ? [] : join(directory, name)))
    : [directory]
}

/** Longest path below the base directory that must be a socket's: `/XXXXXX/s/<16 digits>.sock`, in bytes. */
const SOCKET_TAIL_BYTES = 31

/** The base directory, or one in /tmp where that of the environment is too long for sockets: a run that starts nothing needs none. */
function shortBaseDirectory(): string {
  const base = baseDirectory()
  const isShort = Buffer.byteLength(base) + SOCKET_TAIL_BYTES <= runtimePlatform.socketPathBytes
  return isShort || !runtimePlatform.hasUnixSockets ? base : `/tmp/custody-${process.geteuid?.()}`
}

async function newDirectory(base: string): Promise<string> {
  ensurePrivateDirectory(base)
  try {
    const { path } = await makeDirectory({ tmpdir: realpathSync.native(base), template: 'XXXXXX', mode: 0o700, keep: true })
    return path
  } catch (cause) {
    throw explainRefusal(base, cause)
  }
}

/**
 * Begins a run in its directories, and removes them when that fails.
 * @throws CUSTODY_UNSAFE_DIRECTORY when they cannot be written to
 */
export function removeUnlessBegun<T>({ directory, storage }: Pick<RunHandle, 'directory' | 'storage'>, begin: () => T): T {
  try {
    return begin()
  } catch (cause) {
    for (const path of [storage, directory]) rmSync(path, { recursive: true, force: true })
    throw explainRefusal(directory, cause)
  }
}

/** What the system says of a directory, for people; any other fault is as it is. */
function explainRefusal(path: string, cause: unknown): unknown {
  if (!hasCode(cause, 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT')) return cause
  const { code } = cause as NodeJS.ErrnoException
  return new CustodyError('CUSTODY_UNSAFE_DIRECTORY', `Could not use the directory ${path}: it cannot be written to (${code}).`, {
    hint: 'make room on its disk, or have TMPDIR lead to a directory of your own that can be written to.',
    facts: { path, code },
    cause,
  })
}
