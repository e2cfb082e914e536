import type { Identity } from '../identity.js'
import { darwin } from './darwin.js'
import { isHidden } from './is-hidden.js'
import { linux } from './linux.js'
import { system } from './system.js'
import { windows } from './windows.js'

/** What this package asks of an operating system. */
export interface RuntimePlatform {
  /** Longest socket path in bytes, without the closing zero. Node 20 truncates longer ones without a word. */
  readonly socketPathBytes: number
  /** Whether files have owners and modes that mean something. */
  readonly hasFileModes: boolean
  readonly hasUnixSockets: boolean
  /**
   * The kernel's start time of a live process; null when there is none of that number, or only a zombie. What it returns is for
   * `hasEnded` and `seeStart`, which know what a failure means.
   * @throws the system's error when this cannot be known, as EPERM of a process that /proc hides: it may well be alive
   */
  readStart(pid: number): string | null
  /** Boot id and namespaces of this process: what a start time is relative to. */
  readOrigin(): Pick<Identity, 'boot' | 'pidns' | 'timens'>
}

/** The only place in this package that asks which operating system it is. */
export const platform: RuntimePlatform = system === 'linux' ? linux : system === 'win32' ? windows : darwin

let own: Identity | undefined

/** The identity of this process. */
export function ownIdentity(): Identity {
  own ??= { pid: process.pid, start: readOwnStart(), ...platform.readOrigin() }
  return own
}

/** Null where the system shows no process, not even this one. */
function readOwnStart(): string | null {
  try {
    return platform.readStart(process.pid)
  } catch (error) {
    if (isHidden(error)) return null
    throw error
  }
}
