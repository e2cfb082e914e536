import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { ownIdentity } from '@custody/runtime/internals'

/**
 * What shows that a process may be sent a signal. Each is the kernel's word, or comes of being its parent; no file, name, port or answer
 * is among them.
 */
export type SignalProof =
  /** This process is its parent, and has not reaped it: the number is nobody else's. */
  | 'own child'
  /** It has the number and the start time that its parent saw at its birth. */
  | 'seen at birth'
  /** It was started with the namespace in its environment. */
  | 'environment'
  /** It writes to a log that Custody has opened for it. */
  | 'log file'
  /** It is in a control group that was made for it. */
  | 'control group'
  /** It has lost its parent and come to the supervisor, from something that this has started. */
  | 'orphan'
  /** Its parent was shown to belong here by one of these. */
  | 'descendant'

/** What Custody does to a process. */
export type Act =
  | {
      readonly act: 'signal'
      readonly signal: NodeJS.Signals
      readonly to: 'process' | 'group'
      readonly pid: number
      /** The kernel's start time; null for a child of whoever acts that is not asked for it, or that the system hides. */
      readonly start: string | null
      readonly proof: SignalProof
    }
  | {
      readonly act: 'shutdown request'
      /** The path that the request names: that of the locator, or of its entry in the registry. The runtime compares it once more. */
      readonly locator: string
      readonly instance: string
      readonly pid: number | null
      readonly start: string | null
      /** Why the runtime was found to be owned. */
      readonly proof: string
    }

type Witness = (act: Act) => void

const witnesses = new Set<Witness>()

/**
 * Has every act told to a listener right before it is done.
 * @returns what takes the listener away
 */
export function addWitness(listener: Witness): () => void {
  witnesses.add(listener)
  return () => void witnesses.delete(listener)
}

/** Names the file to which each process of Custody adds a line for each act. docs/security.md has it. */
export const WITNESS_VARIABLE = 'CUSTODY_WITNESS'

/**
 * Tells of an act, right before it is done. An act may be told and then not happen, as its target may go in between. Where the file cannot
 * be written the act is done all the same.
 */
export function tellWitnesses(act: Act): void {
  for (const listener of witnesses) listener(act)
  const file = process.env[WITNESS_VARIABLE]
  if (file !== undefined && file !== '') addLine(file, { by: process.pid, pidns: ownIdentity().pidns, ...act })
}

/** One write with O_APPEND: lines of several processes do not mix. */
function addLine(path: string, line: object): void {
  try {
    // The supervisor is in another directory.
    if (!isAbsolute(path)) throw new Error('its path is not absolute')
    const file = openSync(path, APPENDING, 0o600)
    try {
      if (!fstatSync(file).isFile()) throw new Error('it is no regular file')
      writeSync(file, `${JSON.stringify(line)}\n`)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    // A full disk must not keep a process alive that is to be ended.
    process.stderr.write(`Custody could not write to ${WITNESS_VARIABLE} ${path}: ${(error as Error).message}\n`)
  }
}

/** It does not wait for who reads a FIFO. Windows has no such flag. */
const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0)
