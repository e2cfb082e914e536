import { rmSync } from 'node:fs'
import type { Identity } from '@custody/runtime'
import { isInScope } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Allowance } from '../options/options.js'
import type { Birthmark } from '../tree/birthmark.js'
import { readExemptions } from './exemptions.js'
import type { ManagedProcess } from './managed-process.js'
import { type Means, plainMeans } from './means.js'
import { reapOrphans } from './orphans.js'
import type { Attachment, Ended, ShareAnswer, SharedRuntime, Spawned, SpawnRequest, StreamNotice, Swept } from './protocol.js'
import { Shares } from './shares.js'
import { SpawnQueue } from './spawn-queue.js'
import { StartedProcesses } from './started-processes.js'
import { inStopOrder } from './stop-order.js'
import { sweepScope } from './sweep-scope.js'

/** A connection of the supervisor. */
export interface Client {
  notify(method: string, params?: unknown): void
  readonly ended: Promise<void>
}

export interface SupervisorOptions {
  readonly runId: NamespaceId
  readonly runDirectory: string
  /** The runner's main process: never a target. */
  readonly runner: Identity
  /** Milliseconds for each tree when the runner or a worker has gone. */
  readonly lastGraceMs: number
  /** What tests may leave: no signal goes to it. @default nothing */
  readonly allow?: readonly Allowance[]
  /** Whether the helpers of well-known tools are left alone. @default true */
  readonly commonHelpers?: boolean
  /** Whether what tests have left ends with the run. @default true */
  readonly isSwept?: boolean
  /** Takes what this machine has beyond plain Node. @default nothing */
  readonly takeMeans?: () => Means
}

/** How often it is looked how long the logs have grown, and whether daemons have exited, in milliseconds. */
const LOOK_MS = 250

/** What the end of a run came to. */
export interface SupervisorEnd {
  readonly ended: readonly Ended[]
  readonly swept: readonly Swept[]
  /** Whether nothing went wrong on the way. */
  readonly isComplete: boolean
}

/** The parent of every command that tests start. When those who asked have gone, it ends what was theirs. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #started: StartedProcesses
  readonly #clients = new Set<Client>()
  readonly #queue = new SpawnQueue<Client>()
  readonly #shares = new Shares()
  readonly #onEnd: (end: SupervisorEnd) => void
  /** What was ended because those had gone who had asked for it. Nobody has been told of it yet. */
  readonly #untold = new Map<NamespaceId, Ended>()
  readonly #departures = new Set<Promise<void>>()
  /** Those that have accounted for their files. */
  readonly #settled = new WeakSet<Client>()
  /** Who has had something started that nobody else knows of yet. */
  readonly #unannounced = new Map<NamespaceId, Client>()
  #swept: Swept[] = []
  #means: Means | null = null
  #hasRunner = false
  #starting: Promise<unknown> = Promise.resolve()
  #ending: Promise<void> | null = null
  #isRerunNext = false

  /** @param onEnd called once, when the run is over and everything has been ended */
  constructor(options: SupervisorOptions, onEnd: (end: SupervisorEnd) => void) {
    this.#options = options
    this.#onEnd = onEnd
    const tell = (method: string, notice: object) => {
      for (const each of this.#clients) each.notify(method, notice)
    }
    this.#started = new StartedProcesses({
      ...{ runDirectory: options.runDirectory, runner: options.runner, means: () => this.means },
      onExit: (notice) => tell('exited', notice),
      onStreamed: (notice) => tell('streamed', notice),
      onGone: (id) => {
        this.#unannounced.delete(id)
        this.#shares.forget(id)
      },
    })
    setInterval(() => {
      try {
        this.#started.cutLogs()
        this.#started.tellLostDaemons()
        this.#means?.groups?.clean()
      } catch (error) {
        // A look that fails must not end the custody of anything; the next one may do.
        console.error(error)
      }
    }, LOOK_MS).unref()
  }

  /** Whether the runner's main process has been here. */
  get hasRunner(): boolean {
    return this.#hasRunner
  }

  /** What was started so far of which the output is shown as it comes. */
  get streamed(): readonly StreamNotice[] {
    return this.#started.streamed
  }

  /** Whether something goes on from one run of a watch mode to the next. */
  get hasKept(): boolean {
    return this.#started.kept().length > 0
  }

  /** Notes who a client is. What is its own ends with its connection, for whatever reason that ends. */
  attach(client: Client, attachment: Attachment): void {
    // A lifeline only waits for the end.
    if (attachment.role === 'lifeline') return
    this.#clients.add(client)
    if (attachment.role === 'runner') this.#hasRunner = true
    // A worker comes to have something started: before that it is not needed, and not before the answer to who has come.
    if (attachment.role === 'worker') setImmediate(() => this.means)
    client.ended
      .then(() => {
        this.#clients.delete(client)
        this.#queue.drop(client)
        return attachment.role === 'runner' ? this.end() : this.#endWorker(client, attachment.file)
      })
      // One client's end must not end the custody of the others; the log of the supervisor has it.
      .catch((error: unknown) => console.error(error))
  }

  /** Notes that a client has accounted for what was born in its file: what it has left there is for the end of the run. */
  leave(client: Client): void {
    this.#settled.add(client)
  }

  /** Notes that somebody else than its starter knows of one: it does not end because that one goes. */
  announce(id: NamespaceId): void {
    this.#unannounced.delete(id)
  }

  /** What it has beyond plain Node, taken when somebody asks for it first. */
  get means(): Means {
    this.#means ??= this.#takeMeans()
    return this.#means
  }

  #takeMeans(): Means {
    try {
      const means = this.#options.takeMeans?.() ?? plainMeans
      if (means.native !== null && means.mechanisms.includes('subreaper')) reapOrphans(means.native)
      return means
    } catch (error) {
      // Plain Node does as well; the log of the supervisor has the reason.
      console.error(error)
      return plainMeans
    }
  }

  /** @throws {Error} Node's, with `code`, when there is no such command or directory; another when the run is over */
  async spawn(client: Client, request: SpawnRequest): Promise<Spawned> {
    const { spawned } = await this.#queue.add(client, async () => {
      // A worker may outlive its runner, and go on asking.
      if (this.#ending !== null) throw new Error('this run is over')
      const starting = this.#started.start(request)
      this.#starting = starting.catch(() => {})
      return starting
    })
    // Who asked may have gone while it was started.
    if (!this.#clients.has(client)) await this.stop(request.id, this.#options.lastGraceMs)
    else this.#unannounced.set(request.id, client)
    return spawned
  }

  stop(id: NamespaceId, graceMs?: number): Promise<Ended> {
    return this.#started.stop(id, graceMs)
  }

  /** Has a runtime be what its command has left behind. Null when the kernel shows nobody to be born of it. */
  adopt(id: NamespaceId): Identity | null {
    return this.#started.get(id)?.adopt() ?? null
  }

  signal(id: NamespaceId, signal: NodeJS.Signals): boolean {
    return this.#started.get(id)?.signal(signal) ?? false
  }

  /** Ends one before its scope does; the scope is told of it as well, for its receipts. */
  async stopByHand(id: NamespaceId): Promise<Ended> {
    const isRunning = this.#started.get(id) !== undefined
    const ended = await this.stop(id)
    if (isRunning && ended.left.length === 0) this.#untold.set(id, ended)
    return ended
  }

  /**
   * Ends what was started in a scope, those that need others first. Tells also what has ended there without anybody being told.
   * @param isRerunNext whether the run goes on in watch mode, and with it what is kept
   */
  async settle(scope: NamespaceId, graceMs?: number, isRerunNext = false): Promise<Ended[]> {
    if (scope === this.#options.runId) this.#isRerunNext = isRerunNext
    if (isRerunNext) this.#shares.beginRerun()
    const kept = this.#kept()
    const own = this.#started.all().filter((each) => isInScope(each.request.scope, scope) && !kept.includes(each))
    const ended = new Map<NamespaceId, Ended>()
    const requests = own.map(({ request }) => request)
    for (const wave of inStopOrder(requests)) {
      const all = await Promise.all(wave.map(({ id }) => this.stop(id, graceMs)))
      for (const each of all) ended.set(each.id, each)
    }
    freePorts(requests)
    if (scope === this.#options.runId) await Promise.all(this.#departures)
    for (const each of this.#untold.values()) if (isInScope(each.scope, scope)) ended.set(each.id, each)
    for (const id of ended.keys()) this.#untold.delete(id)
    return [...ended.values()]
  }

  /** Removes the logs of runtimes that have ended, when nobody reads them any more. */
  removeLogs(ids: readonly NamespaceId[]): void {
    try {
      this.#started.removeLogs(ids)
    } catch (error) {
      // On a full disk they stay until the end of the run; the log of the supervisor has the reason.
      console.error(error)
    }
  }

  #kept(): ManagedProcess[] {
    return this.#isRerunNext ? this.#started.kept() : []
  }

  /**
   * Ends whatever else was born in the run, and tells what that was.
   * @param except what goes on, with what descends from it
   */
  async sweep(except: readonly Birthmark[] = []): Promise<Swept[]> {
    await Promise.all(this.#departures)
    await this.#sweep(this.#options.runId, this.#options.lastGraceMs, except)
    const swept = this.#swept
    this.#swept = []
    return swept
  }

  /** Ends what tests have left by themselves, and tells what that was. */
  async endLeft(scope: NamespaceId, known: readonly Identity[], spared: readonly Identity[]): Promise<Swept[]> {
    const { allow = [], commonHelpers = true, lastGraceMs, runDirectory, runner } = this.#options
    const kept = this.#started.all().map(({ mark }) => mark)
    const exemptions = readExemptions(runDirectory)
    const what = { scope, isRun: false, kept, known, spared, allow, commonHelpers, exemptions }
    return sweepScope({ ...what, runner, means: this.#means ?? plainMeans, graceMs: lastGraceMs })
  }

  async share(client: Client, key: string, fingerprint: string): Promise<ShareAnswer> {
    this.#started.tellLostDaemons()
    const outdated = this.#shares.findOutdated(key, fingerprint, (id) => this.#started.hasLostNeed(id))
    if (outdated !== null) await this.#replace(outdated.id)
    // It would be the starter, and nobody would be left to start it.
    if (!this.#clients.has(client)) throw new Error('who asked has gone')
    return this.#shares.ask(client, key, fingerprint)
  }

  /** Ends what is to be started anew, and before it what needs it. */
  async #replace(id: NamespaceId): Promise<void> {
    const requests = this.#started.withDependents(id)
    for (const wave of inStopOrder(requests)) await Promise.all(wave.map((request) => this.stopByHand(request.id)))
    freePorts(requests)
  }

  shared(key: string, outcome: SharedRuntime | { readonly problem: string }): void {
    if ('id' in outcome) this.announce(outcome.id)
    const process = 'id' in outcome ? this.#started.get(outcome.id) : undefined
    // The notice of its exit came before anybody could forget it.
    const hasExited = process?.request.daemonizes ? process.findLoss() : process?.exit != null
    this.#shares.tell(key, hasExited ? { problem: 'it exited as soon as it was ready' } : outcome)
  }

  /** Ends the run: everything that was started in it, and whatever else was born in it. */
  end(): Promise<void> {
    this.#ending ??= this.#endRun()
    return this.#ending
  }

  async #endRun(): Promise<void> {
    this.#isRerunNext = false
    const { lastGraceMs, runId } = this.#options
    // One that is being started right now has no process yet that could be found.
    await this.#starting
    const ended = await this.#endScope(runId, lastGraceMs).catch((error: unknown) => {
      // It leaves all the same, and the sentinel looks once more.
      this.#onEnd({ ended: [], swept: this.#swept, isComplete: false })
      throw error
    })
    this.#means?.groups?.leave()
    this.#onEnd({ ended, swept: this.#swept, isComplete: true })
  }

  /** What a worker was starting for others ends before the next in line starts it: two could not have the same port. */
  async #endWorker(client: Client, file: NamespaceId): Promise<void> {
    const half = [...this.#unannounced].flatMap(([id, by]) => (by === client && !isInScope(id, file) ? id : []))
    await Promise.all(half.map((id) => this.stop(id, this.#options.lastGraceMs)))
    this.#shares.drop(client)
    await this.#endFile(file, this.#settled.has(client))
  }

  /** A file has ended, or its worker has died: the run will tell what was still there. */
  async #endFile(file: NamespaceId, isSettled: boolean): Promise<void> {
    const { lastGraceMs } = this.#options
    const ending = isSettled ? this.settle(file, lastGraceMs) : this.#endScope(file, lastGraceMs)
    const departure = ending.then((ended) => {
      for (const each of ended) this.#untold.set(each.id, each)
    })
    this.#departures.add(departure)
    await departure
    this.#departures.delete(departure)
  }

  async #endScope(scope: NamespaceId, graceMs: number): Promise<Ended[]> {
    const ended = await this.settle(scope, graceMs)
    await this.#sweep(scope, graceMs)
    return ended
  }

  async #sweep(scope: NamespaceId, graceMs: number, except: readonly Birthmark[] = []): Promise<void> {
    const { allow = [], commonHelpers = true, isSwept = true, runDirectory, runId, runner } = this.#options
    if (!isSwept) return
    const kept = [...this.#kept().map(({ mark }) => mark), ...except]
    const what = { scope, isRun: scope === runId, kept, allow, commonHelpers, exemptions: readExemptions(runDirectory) }
    this.#swept.push(...(await sweepScope({ ...what, runner, means: this.#means ?? plainMeans, graceMs })))
  }
}

function freePorts(requests: readonly SpawnRequest[]): void {
  for (const path of requests.flatMap(({ portClaims = [] }) => portClaims)) rmSync(path, { force: true })
}
