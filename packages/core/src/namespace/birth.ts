// Loaded in every worker before any user code, as ESM by Vitest and as CommonJS by Jest: Node's built-ins only, and no state but
// what stands on `process`, so that all copies share it.
import { AsyncLocalStorage } from 'node:async_hooks'
import childProcess, { type ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { syncBuiltinESMExports } from 'node:module'
import { type BunSpawner, markBunChildren } from './mark-bun-children.js'
import type { NamespaceId } from './namespace-id.js'
import { newFileId } from './new-file-id.js'
import { watchRef } from './watch-ref.js'

/** The place of one spawn in the source: an object with the stack of that moment, which V8 formats only when it is read. */
export interface SpawnSite {
  readonly stack?: string
}

/** What is asked of a child: Bun's own have the first three. */
export type Child = Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'> &
  Partial<Pick<ChildProcess, 'stdio' | 'removeAllListeners'>>

/** A process that this thread has started, and that announced itself: what `spawnSync` and its like start has ended by then. */
export interface BornChild {
  readonly process: Child
  readonly site: SpawnSite
  /** Whether it was started at all: a test may make such an object for itself, and give it any number. */
  isStarted: boolean
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
  /** How many processes were started, in the scopes below as well. */
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
  /** The run's directory, which children are told; null where nothing is marked. */
  runDirectory: string | null
  /** What the environment of this process is marked with: its children inherit it and get their own instead. */
  inherited: string | undefined
  /**
   * Whether some processes are started here without a word: commands of Bun's shell, and what Deno starts by `Deno.Command`, or by a named
   * import of `spawnSync` and its like.
   */
  readonly startsUnseen: boolean
  isMarking: boolean
  /** Who is to know of a process that code of a test starts when the test has ended. */
  onStray: ((birth: Birth, site: SpawnSite) => void) | null
  /** In the runner's main process: what global setups start, told by the place. All else there is the runner's. */
  setup: { readonly cell: Cell; accepts(site: SpawnSite): boolean } | null
  /** How many spawns of Custody's own are being made: they are nobody's. */
  ownSpawns: number
}

const VARIABLE = 'CUSTODY_NAMESPACE'
const MAX_SITES = 32
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
    startsUnseen: 'bun' in process.versions || 'deno' in process.versions,
    isMarking: false,
    onStray: null,
    setup: null,
    ownSpawns: 0,
  }
  return shared[slot]
}

export function newBirth(id: NamespaceId, above: Birth | null = null): Birth {
  return { id, children: [], sites: [], spawned: 0, above, scope: null }
}

/** Makes the file that runs from here on in this thread the one that stray code belongs to. */
export function enterFile(run: NamespaceId): Cell {
  const cell: Cell = { birth: newBirth(newFileId(run)), countsOn: false, isOver: false }
  const state = birthState()
  state.file = cell
  state.sequential = null
  state.loose = null
  if (state.startsUnseen && state.runDirectory !== null) markUnseen(cell.birth, state.runDirectory)
  return cell
}

/** Has whatever is started without a word inherit the file's mark; so the file has to look, even if nothing was announced. */
function markUnseen(birth: Birth, runDirectory: string): void {
  const state = birthState()
  state.inherited = `${birth.id}:${runDirectory}`
  process.env[VARIABLE] = state.inherited
  birth.spawned++
}

/**
 * Has the code from here on stand in a cell. Before the first await of a hook: later it would not reach what runs after the hook.
 * @param isConcurrent whether other tests run at the same time
 */
export function enterCell(cell: Cell, isConcurrent = false): void {
  const state = birthState()
  const isFollowed = isConcurrent || state.isFollowing
  if (!isConcurrent) state.sequential = isFollowed ? null : cell
  if (isFollowed) state.contexts.enterWith(contextOf(cell))
}

/** Runs a function in a cell. */
export function runInCell<T>(cell: Cell, isConcurrent: boolean, run: () => T): T {
  const state = birthState()
  const isFollowed = isConcurrent || state.isFollowing
  if (!isConcurrent) state.sequential = isFollowed ? null : cell
  return isFollowed ? state.contexts.run(contextOf(cell), run) : run()
}

/** Where the running code stands: in its test, or else in the file. Who asks has something to start, so contexts are followed from now on. */
export function currentCell(): Cell | null {
  const state = birthState()
  state.isFollowing = true
  const context = state.contexts.getStore()
  const cell = context && state.cellOf.get(context)
  // What an ended file goes on to do is its own as long as no other file runs.
  const file = state.file !== null && (!state.file.isOver || state.file === cell) ? state.file : null
  if (cell !== undefined) return !cell.isOver || cell.countsOn ? cell : file
  // Code without a context began before contexts were followed: it is not that of a test which has one.
  if (state.loose !== null) return state.loose
  return state.sequential !== null && !state.sequential.isOver ? state.sequential : file
}

/** Notes that a test was cut short by a limit of time. From here on contexts tell what goes on of it from the tests that follow. */
export function noteCutShort(cell: Cell): void {
  const state = birthState()
  if (state.isFollowing) return
  state.loose = cell
  state.isFollowing = true
}

function contextOf(cell: Cell): object {
  const { cellOf, contextOf } = birthState()
  let context = contextOf.get(cell)
  if (context === undefined) {
    context = {}
    contextOf.set(cell, context)
    cellOf.set(context, cell)
  }
  return context
}

/** Puts the current namespace into the environment of each process that this thread starts. Once per thread; Node's `process.env` stays as it is. */
export function markChildren(): void {
  const state = birthState()
  if (state.isMarking) return
  state.isMarking = true
  const { Bun: bun } = globalThis as { Bun?: BunSpawner }
  if (bun !== undefined) return markBunChildren(bun)
  subscribe('child_process', (message) => markAsynchronous((message as { process: ChildProcess }).process))
  // The channel does not announce these three.
  childProcess.spawnSync = markSynchronous(childProcess.spawnSync, true)
  childProcess.execFileSync = markSynchronous(childProcess.execFileSync, true)
  childProcess.execSync = markSynchronous(childProcess.execSync, false)
  syncBuiltinESMExports()
}

/** Starts a process that is Custody's own, such as a probe: it is not noted as a test's. */
export function unnoted<T>(spawn: () => T): T {
  const state = birthState()
  state.ownSpawns++
  try {
    return spawn()
  } finally {
    state.ownSpawns--
  }
}

interface RawSpawnOptions {
  detached?: boolean
  envPairs?: string[]
}

/** Those that have exited are forgotten now and then: a file may start thousands. */
export function note(children: BornChild[], child: BornChild): void {
  if (children.length >= MAX_SITES && children.length % MAX_SITES === 0) {
    children.splice(0, children.length, ...children.filter((each) => mayBeAlive(each.process)))
  }
  children.push(child)
}

/** Whether a child has been started, and has not exited as far as Node knows. */
export function mayBeAlive({ exitCode, pid, signalCode }: Child): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}

/**
 * Takes all listeners from children that may still be alive: for those whose code is gone.
 * @param except children of code that is still there
 */
export function silence({ children }: Birth, except: readonly BornChild[]): void {
  for (const child of children) {
    const { process } = child
    if (!mayBeAlive(process) || except.includes(child)) continue
    for (const emitter of [process, ...(process.stdio ?? [])]) {
      // An error that nobody listens to would end this process.
      emitter?.removeAllListeners?.().on('error', () => {})
    }
  }
}

/** The channel speaks in the constructor, before the spawn: an own `spawn` on this one child adds the variable and is gone. */
function markAsynchronous(child: ChildProcess): void {
  const state = birthState()
  const born = beBorn(markAsynchronous)
  if (born === null) return
  const { isLate, site } = born
  const record: BornChild = {
    ...{ process: child, site, isStarted: false, isDetached: false, isLate },
    ...(state.startsUnseen && { hasRef: watchRef(child) }),
  }
  note(born.birth.children, record)
  const { mark } = born
  const raw = child as unknown as { spawn(options: RawSpawnOptions): unknown }
  raw.spawn = (options) => {
    delete (child as { spawn?: unknown }).spawn
    record.isStarted = true
    record.isDetached = options?.detached === true
    const pairs = mark === null ? undefined : options?.envPairs
    if (Array.isArray(pairs)) {
      const at = pairs.findIndex((pair) => pair.startsWith(`${VARIABLE}=`))
      if (at < 0) pairs.push(`${VARIABLE}=${mark}`)
      else if (pairs[at] === `${VARIABLE}=${state.inherited}`) pairs[at] = `${VARIABLE}=${mark}`
    }
    return raw.spawn(options)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the three have twenty overloads, and all are passed on as they are
type AnyFunction = (...args: any[]) => any

function markSynchronous<F extends AnyFunction>(original: F, hasArguments: boolean): F {
  const marked = function (this: unknown, ...args: unknown[]): unknown {
    const mark = beBorn(marked)?.mark ?? null
    return mark === null ? original.apply(this, args) : original.apply(this, withMark(args, hasArguments, mark))
  }
  // Spies and feature checks see the original's name, length and properties.
  return Object.defineProperties(marked, Object.getOwnPropertyDescriptors(original)) as unknown as F
}

/** The arguments with a marked environment, or as they are when they are wrong: Node then says so itself. */
function withMark(args: readonly unknown[], hasArguments: boolean, mark: string): unknown[] {
  const at = hasArguments && (Array.isArray(args[1]) || (args[1] == null && args.length > 2)) ? 2 : 1
  const options = args[at]
  if (options !== undefined && options !== null && typeof options !== 'object') return [...args]
  // As Node does, which takes its own for an empty text as well.
  const env = environmentWith(mark, (options as { env?: NodeJS.ProcessEnv } | null | undefined)?.env || process.env)
  const result = [...args]
  while (result.length < at) result.push(undefined)
  result[at] = { ...(options as object | null | undefined), env }
  return result
}

/** An environment with a mark, if it has none of its own. */
export function environmentWith(mark: string, given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  // Node takes inherited keys too.
  for (const key in given) env[key] = given[key]
  if (env[VARIABLE] === undefined || env[VARIABLE] === birthState().inherited) env[VARIABLE] = mark
  return env
}

/** What is noted of a birth. */
export interface Born {
  readonly birth: Birth
  readonly site: SpawnSite
  readonly isLate: boolean
  /** Null where children are not marked. */
  readonly mark: string | null
}

/** Notes a birth in the current scope; null where there is none. Must not throw: it runs inside of spawn. */
export function beBorn(below: AnyFunction): Born | null {
  const { onStray, ownSpawns, runDirectory, setup } = birthState()
  if (ownSpawns > 0) return null
  const current = currentCell()
  if (current === null && setup === null) return null
  const site = captureSite(below)
  const cell = current ?? (setup?.accepts(site) ? setup.cell : null)
  if (cell === null) return null
  const { birth, isOver } = cell
  for (let each: Birth | null = birth; each !== null; each = each.above) each.spawned++
  if (isOver) onStray?.(birth, site)
  if (birth.sites.length < MAX_SITES) birth.sites.push(site)
  return { birth, site, isLate: isOver, mark: runDirectory === null ? null : `${birth.id}:${runDirectory}` }
}

/** The place that called `below`. */
export function captureSite(below: AnyFunction): SpawnSite {
  const site: SpawnSite = {}
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 30
  Error.captureStackTrace(site, below)
  Error.stackTraceLimit = limit
  return site
}
