import { rmSync } from 'node:fs'
import type { Identity } from '@custody/runtime'
import { hasCode } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { FileId } from '../tree/file-id.js'
import { cutLog } from './cut-log.js'
import { writeEnded, writeJournal } from './journal.js'
import { logDirectoryOf, logPathsOf } from './log-paths.js'
import { ManagedProcess, unknownStatus } from './managed-process.js'
import type { Means } from './means.js'
import type { Ended, ExitNotice, SpawnRequest, StreamNotice } from './protocol.js'

export interface StartedProcessesOptions {
  readonly runDirectory: string
  /** The runner's main process: never a target. */
  readonly runner: Identity
  means(): Means
  onExit(notice: ExitNotice): void
  onStreamed(notice: StreamNotice): void
  /** Called when one is not there any more: whoever asks for it gets another. */
  onGone(id: NamespaceId): void
}

/** The books of what the supervisor has started. */
export class StartedProcesses {
  readonly #options: StartedProcessesOptions
  readonly #processes = new Map<NamespaceId, ManagedProcess>()
  readonly #streamed: StreamNotice[] = []
  /** How each has ended, for those who ask once more. */
  readonly #ended = new Map<NamespaceId, Ended>()
  /** Those whose daemon has exited, as everybody was told. */
  readonly #lost = new Set<NamespaceId>()

  constructor(options: StartedProcessesOptions) {
    this.#options = options
  }

  /** Those of which the output is shown as it comes. */
  get streamed(): readonly StreamNotice[] {
    return this.#streamed
  }

  all(): ManagedProcess[] {
    return [...this.#processes.values()]
  }

  get(id: NamespaceId): ManagedProcess | undefined {
    return this.#processes.get(id)
  }

  /** @throws {Error} Node's, with `code`, when there is no such command or directory */
  async start(request: SpawnRequest): Promise<ManagedProcess> {
    const { means, onExit, onGone, onStreamed, runDirectory } = this.#options
    const { daemonizes: isDaemon = false, id, name } = request
    const started = await ManagedProcess.start(request, logDirectoryOf(runDirectory), means().groups)
    const { files, identity, spawned } = started
    this.#processes.set(id, started)
    try {
      writeJournal(runDirectory, { id, name, identity, files })
    } catch (error) {
      // What nobody could find after this process is not to run.
      await this.stop(id, 0)
      throw error
    }
    if (request.isStreamed) {
      const notice = { id, name, isDaemon, logs: spawned.logs }
      this.#streamed.push(notice)
      onStreamed(notice)
    }
    void started.exited.then((exit) => {
      onGone(id)
      onExit({ id, isDaemon: false, exit, expected: started.isExpected })
    })
    return started
  }

  /** @throws {Error} when nothing was ever started under this id */
  async stop(id: NamespaceId, graceMs?: number): Promise<Ended> {
    const process = this.#processes.get(id)
    const before = this.#ended.get(id)
    if (process === undefined && before !== undefined) return before
    if (process === undefined) throw new Error(`There is no runtime ${id}.`)
    const ended = await process.stop([this.#options.runner], graceMs)
    if (ended.left.length > 0) return ended
    this.#processes.delete(id)
    this.#ended.set(id, ended)
    this.#options.onGone(id)
    if (process.request.daemonizes && !this.#lost.has(id)) this.#tellLost(id, ended.expected)
    this.#options.means().groups?.drop(id)
    return ended
  }

  /** Removes the logs of what has ended. What is shown as it comes may not have been shown to its end, and stays. */
  removeLogs(ids: readonly NamespaceId[]): void {
    const { runDirectory } = this.#options
    const streamed = new Set(this.#streamed.map(({ id }) => id))
    const ended = ids.filter((id) => this.#ended.has(id) && !streamed.has(id))
    if (ended.length === 0) return
    writeEnded(runDirectory, ended)
    for (const path of ended.flatMap((id) => Object.values(logPathsOf(id, logDirectoryOf(runDirectory)))))
      rmSync(path, { force: true })
  }

  /** Nobody here is the parent of a daemon: its exit has to be looked for. */
  tellLostDaemons(): void {
    for (const [id, process] of this.#processes) {
      if (!this.#lost.has(id) && process.findLoss()) this.#tellLost(id, process.isExpected)
    }
  }

  cutLogs(): void {
    for (const { files, spawned } of this.#processes.values()) {
      for (const path of new Set([spawned.logs.stdout, spawned.logs.stderr])) cutIfThere(path, files)
    }
  }

  /** What goes on from one run of a watch mode to the next, and what that needs. */
  kept(): ManagedProcess[] {
    const kept = new Set(this.all().filter(({ request }) => request.isKept))
    for (const { request } of kept) {
      for (const each of this.all()) if (request.needs.includes(each.request.id)) kept.add(each)
    }
    return [...kept]
  }

  /** One, and whatever needs it. */
  withDependents(id: NamespaceId): SpawnRequest[] {
    const ids = new Set<NamespaceId>([id])
    const requests = this.all().map(({ request }) => request)
    for (const each of ids) for (const request of requests) if (request.needs.includes(each)) ids.add(request.id)
    return requests.filter((request) => ids.has(request.id))
  }

  /** Whether something that it needs is gone, or has been started anew. */
  hasLostNeed(id: NamespaceId): boolean {
    const { needs = [] } = this.#processes.get(id)?.request ?? {}
    return needs.some((need) => this.#processes.get(need)?.exit !== null)
  }

  #tellLost(id: NamespaceId, expected: boolean): void {
    this.#lost.add(id)
    this.#options.onGone(id)
    this.#options.onExit({ id, isDaemon: true, exit: unknownStatus, expected })
  }
}

/** Somebody may have removed it, or put something else in its place: that is no reason not to look at the others. */
function cutIfThere(path: string, files: readonly FileId[]): void {
  try {
    cutLog(path, files)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'EISDIR')) throw error
  }
}
