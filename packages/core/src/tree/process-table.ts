import { clock, NAMESPACE_VARIABLE, ownIdentity } from '@custody/runtime/internals'
import { type InitialVariable, type ProcessEntry, platform } from '../platform/index.js'
import { type FileId, isSameFile } from './file-id.js'

/** How long the numbers of a look may be relied on, in milliseconds: nobody starts so many processes in this time that they begin anew. */
const RELIABLE_MS = 1_000

/** Those who are older than this process, as of the last look at all. */
let elders: { readonly pids: ReadonlySet<number>; readonly lastPid: number | null; readonly atMs: number } | null = null

/** All processes of one moment, and what the kernel shows of each, read when somebody asks and then kept: many searches cost one look. */
export class ProcessTable {
  readonly processes: ProcessEntry[]
  readonly byPid: Map<number, ProcessEntry>
  readonly #listed: Set<number>
  readonly #namespaces = new Map<number, InitialVariable>()
  readonly #files = new Map<number, readonly FileId[]>()

  /** @param isQuick whether to leave out those who are older than this process, where the last look knows them still */
  constructor(isQuick = false) {
    const left = isQuick ? reliableElders() : null
    const lastPid = platform.readLastPid()
    this.#listed = new Set(left)
    this.processes = platform.listProcesses(this.#listed)
    this.byPid = new Map(this.processes.map((entry) => [entry.pid, entry]))
    if (left === null) elders = { pids: eldersIn(this.processes), lastPid, atMs: clock.now() }
  }

  /** Adds who is new, and tells whether anybody was, though it may have ended before it could be read. */
  update(): boolean {
    if (!platform.isListingCheap) return false
    const before = this.#listed.size
    const fresh = platform.listProcesses(this.#listed)
    this.processes.push(...fresh)
    for (const entry of fresh) this.byPid.set(entry.pid, entry)
    return this.#listed.size > before
  }

  /** The namespace in the environment that a process was started with. */
  namespaceOf(pid: number): InitialVariable {
    return remember(this.#namespaces, pid, () => platform.readInitialVariable(pid, NAMESPACE_VARIABLE))
  }

  /** Whether a process has one of these files open for writing. */
  holdsFile(pid: number, files: readonly FileId[]): boolean {
    const held = remember(this.#files, pid, () => platform.listWrittenFiles(pid))
    return held.some((file) => files.some((each) => isSameFile(each, file)))
  }
}

const next: { [kind in 'full' | 'quick']?: Promise<ProcessTable> } = {}

/** A table of a moment after this call, and never one of before: whoever asks in the same turn of the event loop gets the same. */
export function nextProcessTable(isQuick: boolean): Promise<ProcessTable> {
  const kind = isQuick ? 'quick' : 'full'
  next[kind] ??= new Promise((resolve, reject) => {
    clock.setImmediate(() => {
      delete next[kind]
      try {
        resolve(new ProcessTable(isQuick))
      } catch (error) {
        // As where no descriptor is left to read with.
        reject(error)
      }
    })
  })
  return next[kind]
}

/** Whether everything that is no older than a start time is younger than this process: then a quick look can find it. */
export function isYoungerThanThis(since: string | undefined): boolean {
  const { start } = ownIdentity()
  return since !== undefined && start !== null && platform.isOlder(start, since) === true
}

/** Null when a number of theirs may be another's by now: when numbers have begun anew since, or nobody can tell. */
function reliableElders(): ReadonlySet<number> | null {
  const lastPid = platform.readLastPid()
  if (elders === null || elders.lastPid === null || lastPid === null) return null
  const isReliable = lastPid >= elders.lastPid && clock.now() - elders.atMs < RELIABLE_MS
  return isReliable ? elders.pids : null
}

function eldersIn(processes: readonly ProcessEntry[]): ReadonlySet<number> {
  const { start } = ownIdentity()
  const isElder = (entry: ProcessEntry) => start !== null && platform.isOlder(entry.start, start) === true
  return new Set(processes.filter(isElder).map(({ pid }) => pid))
}

function remember<T>(known: Map<number, T>, pid: number, read: () => T): T {
  const value = known.get(pid) ?? read()
  known.set(pid, value)
  return value
}
