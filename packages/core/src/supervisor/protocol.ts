import type { Identity } from '@custody/runtime'
import type { NamespaceId } from '../namespace/namespace-id.js'

/** Longest line between a worker and the supervisor, in bytes: an environment may be long. */
export const SUPERVISOR_LINE_BYTES: number = 8 * 1024 * 1024

/** Who a client of the supervisor is. */
export type Attachment =
  /** The runner's main process: the run ends with its connection. */
  | { readonly role: 'runner' }
  /** One file in a worker: what its tests and it started ends with its connection. */
  | { readonly role: 'worker'; readonly file: NamespaceId }
  /** A runtime that was born in the run, and wants to know when that is over. */
  | { readonly role: 'lifeline' }

/** What the supervisor is asked to start. Complete: it decides nothing. */
export interface SpawnRequest {
  /** A namespace of its own, below that of its scope. */
  readonly id: NamespaceId
  /** Who it ends with. */
  readonly scope: NamespaceId
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  readonly shell: boolean
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Whether stdout and stderr go to files of their own. */
  readonly areStreamsApart: boolean
  readonly stopSignal: NodeJS.Signals
  readonly graceMs: number
  /** Ids of those that it needs: they are stopped after it. */
  readonly needs: readonly NamespaceId[]
  /** The files that hold its ports: removed when it ends with its scope. */
  readonly portClaims?: readonly string[]
  /** Whether the command exits with 0 and leaves a daemon behind. */
  readonly daemonizes?: boolean
  /** Whether its output is shown as it comes. */
  readonly isStreamed?: boolean
  /** Whether it goes on when a run in watch mode has ended. */
  readonly isKept?: boolean
}

export interface Spawned {
  readonly identity: Identity
  readonly logs: { readonly stdout: string; readonly stderr: string }
}

/** Both are null for a daemon: it is nobody's child here, and its status is its parent's to know. */
export interface ExitStatus {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Sent to every client when one has been started of which the output is shown as it comes; the runner shows it. */
export interface StreamNotice extends Pick<Spawned, 'logs'> {
  readonly id: NamespaceId
  /** Whether its command is expected to leave a daemon. */
  readonly isDaemon: boolean
  readonly name: string
}

/** Sent to every client when the first process of a runtime has exited, and when its daemon has. */
export interface ExitNotice {
  readonly id: NamespaceId
  readonly isDaemon: boolean
  readonly exit: ExitStatus
  /** Whether it was asked to stop. */
  readonly expected: boolean
}

/** How a started runtime ended. */
export interface Ended {
  readonly id: NamespaceId
  readonly scope: NamespaceId
  readonly name: string
  readonly identity: Identity
  readonly exit: ExitStatus | null
  readonly expected: boolean
  readonly signals: readonly NodeJS.Signals[]
  readonly forced: boolean
  readonly left: readonly Identity[]
  readonly tookMs: number
}

/** A process that was ended because the kernel showed that it was born in the run: nobody else had accounted for it. */
export interface Swept {
  readonly identity: Identity
  readonly command: readonly string[]
  /** Whether not even SIGKILL has ended it. */
  readonly isAlive: boolean
}

/** What a shared runtime looks like to those who did not start it. */
export interface SharedRuntime extends Spawned {
  readonly id: NamespaceId
  readonly dir: string
  readonly env: Readonly<Record<string, string>>
  /** The loopback address that who started it has seen answer; by default 127.0.0.1. */
  readonly host?: string
  readonly ports: Readonly<Record<string, number>>
  readonly match: readonly string[] | null
  readonly groups: Readonly<Record<string, string>> | null
}

/** The answer to who asks for a shared runtime: start it, or here it is. */
export type ShareAnswer =
  | { readonly role: 'starter' }
  | { readonly role: 'guest'; readonly runtime: SharedRuntime }
  | { readonly role: 'refused'; readonly problem: string }
