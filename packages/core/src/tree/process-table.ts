import { clock, NAMESPACE_VARIABLE } from '@custody/runtime/internals'
import { type InitialVariable, type ProcessEntry, platform } from '../platform/index.js'
import { type FileId, isSameFile } from './file-id.js'

/** All processes of one moment, and what the kernel shows of each, read when somebody asks and then kept: many searches cost one look. */
export class ProcessTable {
  readonly processes: readonly ProcessEntry[] = platform.listProcesses()
  readonly byPid: ReadonlyMap<number, ProcessEntry> = new Map(this.processes.map((entry) => [entry.pid, entry]))
  readonly #namespaces = new Map<number, InitialVariable>()
  readonly #files = new Map<number, readonly FileId[]>()

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

let next: Promise<ProcessTable> | null = null

/** A table of a moment after this call, and never one of before: whoever asks in the same turn of the event loop gets the same. */
export function nextProcessTable(): Promise<ProcessTable> {
  next ??= new Promise((resolve) => {
    clock.setImmediate(() => {
      next = null
      resolve(new ProcessTable())
    })
  })
  return next
}

function remember<T>(known: Map<number, T>, pid: number, read: () => T): T {
  const value = known.get(pid) ?? read()
  known.set(pid, value)
  return value
}
