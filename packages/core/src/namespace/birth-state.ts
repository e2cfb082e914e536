import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChildProcess } from 'node:child_process'
import type { NamespaceId } from './namespace-id.js'

/** The variable that marks a process with its namespace. */
export const VARIABLE = 'CUSTODY_NAMESPACE'

/** The place of one spawn in the source: an object with the stack of that moment, which V8 formats only when it is read. */
export interface SpawnSite {
  readonly stack?: string
}

/** What is asked of a child: Bun's own have the first three. */
export type Child = Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'> &
  Partial<Pick<ChildProcess, 'killed' | 'stdio' | 'removeAllListeners'>>

/** A process that this thread has started, and that announced itself: what `spawnSync` and its like start has ended by then. */
export interface BornChild {
  readonly process: Child
  readonly site: SpawnSite
  /** Its number when it was started; null until then. A test may make such an object for itself, and give any a number. */
  pid: number | null
  /** Whether it was started in a session of its own. */
  isDetached: boolean
  /** Whether it was started by code of a test that had ended by then. */
  readonly isLate: boolean
  /** Whether its starter's event loop waits for it, where no handle of Node tells. */
  readonly hasRef?: () => boolean
}

/** What the children of one scope are marked with, and what is known about them. */
export interface Birth {
  readonly id: NamespaceId
  /** Those that may still be alive. */
  readonly children: BornChild[]
  /** The first spawns of this scope, in order. */
  readonly sites: SpawnSite[]
  /** How many processes were started, in the scopes below as well; one more where some may start unseen, so that the scope looks. */
  spawned: number
  /** The file's, where this is a test's: what late code starts has nobody but the file to settle it. */
  readonly above: Birth | null
  /** The scope that settles what was born here; null until there is one. */
  scope: object | null
}

/** Where code stands. */
export interface Cell {
  readonly birth: Birth
  /**
   * Whether it counts on when it is over: an attempt's late code is still that attempt's. What surrounds the attempts of a test, and a
   * file, leak into what runs after them.
   */
  readonly countsOn: boolean
  isOver: boolean
}

/** A watch for what global setups start, which is told by the place. */
export interface SetupWatch {
  readonly cell: Cell
  /** The directory of their run, which children are told; null where nothing is marked. */
  readonly runDirectory: string | null
  accepts(site: SpawnSite): boolean
}

export interface BirthState {
  /**
   * The context of code, across its awaits. Each store is an empty object that stands for a cell: Node 20 hangs it on every promise, where
   * a test may print or compare it.
   */
  readonly contexts: AsyncLocalStorage<object>
  readonly cellOf: WeakMap<object, Cell>
  readonly contextOf: WeakMap<Cell, object>
  /**
   * Whether contexts are followed. Where that has a price, which is everywhere before Node 24 (slower promises, that carry symbols of
   * their own), it begins with the first process of the thread, and with tests that run at once.
   */
  isFollowing: boolean
  /** The cell of what runs one after the other: good enough until something is started. Null when its code has a context. */
  sequential: Cell | null
  /** A test that was cut short while contexts were not followed: its body may go on, and has no context of its own. */
  loose: Cell | null
  /** The file that runs in this thread now. */
  file: Cell | null
  /** The directory of the run whose tests run here, which children are told; null where nothing is marked. */
  runDirectory: string | null
  /** What the environment of this process is marked with: its children inherit it and get their own instead. */
  inherited: string | undefined
  /**
   * Whether some processes are started here without a word: commands of Bun's shell and what is imported by name from `bun`, and what
   * Deno starts by `Deno.Command`, or by a named import of `spawnSync` and its like.
   */
  readonly hasUnseenStarts: boolean
  isMarking: boolean
  /** Who is to know of a process that code of a test starts when the test has ended. */
  onStray: ((birth: Birth, site: SpawnSite) => void) | null
  /** In the runner's main process: what the global setups of each run start. All else there is the runner's. */
  readonly setups: Set<SetupWatch>
  /** How many spawns of Custody's own are being made: they are nobody's. */
  ownSpawns: number
  /** The place of the call for which Custody starts a process just now: its own stack may not lead there. */
  callSite: SpawnSite | null
}

const slot = Symbol.for('@custody/core/birth.1')

/** The one state of this thread, whichever copy of this package asks. */
export function birthState(): BirthState {
  const shared = process as unknown as Record<symbol, BirthState | undefined>
  shared[slot] ??= {
    contexts: new AsyncLocalStorage(),
    cellOf: new WeakMap(),
    contextOf: new WeakMap(),
    isFollowing: Number(process.versions.node.split('.')[0]) >= 24,
    sequential: null,
    loose: null,
    file: null,
    runDirectory: null,
    inherited: process.env[VARIABLE],
    hasUnseenStarts: 'bun' in process.versions || 'deno' in process.versions,
    isMarking: false,
    onStray: null,
    setups: new Set(),
    ownSpawns: 0,
    callSite: null,
  }
  return shared[slot]
}

export function newBirth(id: NamespaceId, above: Birth | null = null): Birth {
  return { id, children: [], sites: [], spawned: 0, above, scope: null }
}
