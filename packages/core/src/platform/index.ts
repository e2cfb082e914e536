import { system } from '@custody/runtime/internals'
import { darwin } from './darwin.js'
import { linux } from './linux.js'
import { windows } from './windows.js'

export { ControlGroups, groupOfRun, isGroupOf, membersOf, removeGroups } from './control-groups.js'
export { currentNative, enableNative, type HeldPeer, type HeldProcess, type Mechanism, type Native } from './native/index.js'
export { findMountIn, removeDirectory } from './remove-directory.js'

/** A live process as the kernel tells of it. Zombies are none. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  /** The process group; 0 where there are none. */
  readonly group: number
  /** The kernel's start time; see Identity. */
  readonly start: string
  /** The executable's short name. */
  readonly comm: string
}

/** What the environment that a process was started with says about one variable. */
export type InitialVariable = { readonly value: string } | 'absent' | 'unreadable'

/** What people want to know of a process; null where it is not known. */
export interface ProcessDescription {
  readonly ageMs: number | null
  readonly cwd: string | null
  /** Addresses of TCP sockets, and paths of others. */
  readonly listensOn: readonly string[]
  readonly parent: number | null
  /** The file that its standard output, or else its standard error, goes to; also where it can be read when its name is gone. */
  readonly output: { readonly path: string; readonly readable: string } | null
}

/** What a process has open, for people. */
export interface OpenThings {
  /** Paths of files, without those that are only mapped. */
  readonly files: readonly string[]
  /** One for each socket: where it listens, or its two ends. */
  readonly sockets: readonly string[]
}

/** What the core asks of an operating system. Everything here is read from the kernel, and nothing of it is a name, a port or a file. */
export interface Platform {
  /** One process, or null when there is none of that number. */
  readProcess(pid: number): ProcessEntry | null
  /** Whether a number is still that of the process which started then: alive, or a zombie that its parent has not reaped. */
  holdsNumber(pid: number, start: string): boolean
  /**
   * All processes that this user may know of, but for those whose numbers were listed before.
   * @param listed takes the numbers of this listing, also of those that have ended before they could be read
   */
  listProcesses(listed?: Set<number>): ProcessEntry[]
  /** Whether a listing takes no longer than to read what is new, and starts no process itself. */
  readonly isListingCheap: boolean
  /** The number of the process or thread that was started last; null where the platform does not tell. Numbers begin anew at some point. */
  readLastPid(): number | null
  /** The numbers of the children of this process, zombies among them; null where the platform does not tell at once. */
  listChildren(): number[] | null
  /** From the initial environment. A program may have overwritten it: absence proves nothing. */
  readInitialVariable(pid: number, name: string): InitialVariable
  /** The files that a process has open for writing. Who only reads a log, as a pager or a test does, was not born of it. */
  listWrittenFiles(pid: number): { readonly dev: number; readonly ino: number }[]
  /** The kernel's numbers of the sockets that listen on a TCP port; null where the platform does not tell. */
  listListeners(port: number): number[] | null
  /** Whether one of the descriptors of a process is one of these sockets; null when they may not be read. */
  holdsSocket(pid: number, sockets: readonly number[]): boolean | null
  /** What a process looks like, for people. */
  describeProcess(pid: number): ProcessDescription
  /** What a process has open, for people; empty where it is not known. */
  listOpen(pid: number): OpenThings
  /** The command line of a process, for people; empty when it is not known. */
  readCommand(pid: number): readonly string[]
  /** Whether a process with the first start time is older, or null where start times have no order. */
  isOlder(start: string, than: string): boolean | null
}

/** How children of the supervisor are started. */
export interface SpawnStyle {
  /** Whether each gets a session and a group of its own. On Windows they must stay in the supervisor's job, which ends with it. */
  readonly isDetached: boolean
  /** Where an additional descriptor of the log goes, which daemons keep that overwrite their environment; null for none. */
  readonly markDescriptor: number | null
}

export const spawnStyle: SpawnStyle =
  system === 'win32' ? { isDetached: false, markDescriptor: null } : { isDetached: true, markDescriptor: 9 }

/** The only place in the core that asks which operating system it is. */
export const platform: Platform = system === 'linux' ? linux : system === 'win32' ? windows : darwin
