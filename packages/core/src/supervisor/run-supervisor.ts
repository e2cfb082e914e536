import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { clock, Deadline, isRpcFailure, readText } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Birthmark } from '../tree/birthmark.js'
import { signalChild } from '../tree/send-signal.js'
import { launchSupervisor } from './launch-supervisor.js'
import { isLoss, SupervisorLink } from './link.js'
import type { Reached } from './means.js'
import type { Ended, Swept } from './protocol.js'
import type { RunRecord } from './run-record.js'
import { sweepRun } from './sweep.js'

/** How often the supervisor is asked whether it is there, in milliseconds. */
const PING_MS = 1_000
/** So many questions in a row without an answer mean that it hangs. */
const MAX_MISSED = 10
const HANGS = `it did not answer for ${(MAX_MISSED * PING_MS) / 1_000} s`
/** How long the end of a run may take, in milliseconds: each runtime has its own grace. */
const END_MS = 120_000

/** The supervisor of a run, as the runner's main process sees it. */
export class RunSupervisor {
  readonly #runDirectory: string
  readonly #run: RunRecord
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  readonly #link: Promise<SupervisorLink>
  readonly #faults: unknown[] = []
  #isEnding = false
  #hasHung = false
  #hasExited = false
  #loss: string | null = null

  private constructor(runDirectory: string, run: RunRecord) {
    this.#runDirectory = runDirectory
    this.#run = run
    this.#child = launchSupervisor(runDirectory, run)
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#hasExited = true
        const how = `it was ended by ${signal ?? `exit code ${code}${lastErrorIn(runDirectory)}`}`
        // That its connection ended may be known before, and says less.
        if (!this.#isEnding && !this.#hasHung) this.#loss = how
        if (this.#isEnding && code !== null && code !== 0) this.#faults.push(new Error(how))
        resolve()
      })
      this.#child.once('error', ({ message }) => {
        this.#loss ??= message
        this.#hasExited = true
        resolve()
      })
    })
    this.#link = SupervisorLink.open(runDirectory, { role: 'runner' })
    this.#link.then(
      (link) => this.#beat(link),
      (error: Error) => {
        this.#loss ??= error.message
      },
    )
  }

  /** Starts it. Nobody waits for it: a run that starts nothing does not notice. */
  static start(runDirectory: string, run: RunRecord): RunSupervisor {
    return new RunSupervisor(runDirectory, run)
  }

  /** Why it is gone although the run goes on, or null. Everything that it had started has been ended then. */
  async findLoss(): Promise<string | null> {
    if (this.#loss !== null) await sweepRun(this.#runDirectory, this.#run, [], 0)
    return this.#loss
  }

  /** The connection of the run itself. @throws CUSTODY_SUPERVISOR_UNREACHABLE */
  get link(): Promise<SupervisorLink> {
    return this.#link
  }

  /**
   * Ends what was started for the whole run, and whatever a file has left.
   * @param isRerunNext whether what is kept for the next run of a watch mode goes on
   */
  async settle(isRerunNext: boolean): Promise<Ended[]> {
    return (await this.#ask<Ended[]>('settle', { scope: this.#run.id, isRerunNext })) ?? []
  }

  /** Ends whatever else was born in the run, apart from what goes on. */
  async sweep(except: readonly Birthmark[]): Promise<Swept[]> {
    return (await this.#ask<Swept[]>('sweep', { except })) ?? []
  }

  /** Ends what was left in a scope, and what is known to be born there, apart from what goes on. */
  async endLeft(scope: NamespaceId, known: readonly Identity[], spared: readonly Identity[]): Promise<Swept[]> {
    return (await this.#ask<Swept[]>('endLeft', { scope, known, spared })) ?? []
  }

  /** Those that were told to it and have not exited in their time; null when it cannot answer. */
  takeOutlived(): Promise<Identity[] | null> {
    return this.#ask<Identity[]>('takeOutlived', {})
  }

  /** Has it stay for as long as this process does, then end what is left, and remove what the run has on disk. */
  async linger(paths: readonly string[]): Promise<void> {
    await this.#ask('linger', { paths })
  }

  /** Whether it has something that goes on in watch mode. */
  async hasKept(): Promise<boolean> {
    return (await this.#ask<boolean>('hasKept', {})) ?? false
  }

  /** What it has beyond plain Node. */
  means(): Promise<Reached | null> {
    return this.#ask<Reached>('means', {})
  }

  /**
   * Has it end everything, and waits for its exit.
   * @returns why it could not, or null. Its sentinel ends what is left then, and needs the files of the run.
   */
  async end(): Promise<string | null> {
    const isUp = await this.#isUp()
    this.#isEnding = true
    this.#child.ref()
    // Its answer may not come: it exits.
    const hasEnded =
      isUp && (await Promise.race([this.#ask('end', {}).then(() => this.#loss === null), this.#exited.then(() => true)]))
    // One that does not end hangs, or was never there: its sentinel cleans up after it.
    if (!hasEnded) signalChild('SIGKILL', this.#child)
    await this.#exited
    const [fault] = this.takeFaults()
    if (this.#loss !== null) return null
    return this.#hasHung ? HANGS : fault === undefined ? null : (fault as Error).message
  }

  /** What it has failed at since this was asked last: its answers were empty then, and how the run went is told all the same. */
  takeFaults(): unknown[] {
    return this.#faults.splice(0)
  }

  /** Null when it cannot answer: it is lost then, or has failed at it. */
  async #ask<T>(method: string, params: object): Promise<T | null> {
    if (!(await this.#isUp())) return null
    const link = await this.#link
    try {
      return await link.call<T>(method, params, END_MS)
    } catch (error) {
      if (isRpcFailure(error)) this.#faults.push(error)
      else if (!isLoss(error)) throw error
      else if (!this.#isEnding) this.#loss ??= `it did not answer "${method}"`
      return null
    }
  }

  #isUp(): Promise<boolean> {
    const connected = this.#link.then(
      () => this.#loss === null,
      () => false,
    )
    return Promise.race([connected, this.#exited.then(() => false)])
  }

  /** A supervisor that hangs is as good as none: it is ended, and what it had started is swept; while the run ends by its sentinel. */
  async #beat(link: SupervisorLink): Promise<void> {
    void link.ended.then(() => {
      if (!this.#isEnding) this.#loss ??= 'its connection ended'
    })
    for (let missed = 0; !this.#hasExited && this.#loss === null; ) {
      const sentAt = Deadline.after(PING_MS)
      const isAnswered = await link.call('ping', {}, PING_MS).then(
        () => true,
        () => false,
      )
      // A runner that was paused itself was late to ask and late to hear.
      const wasPaused = sentAt.lateMs > PING_MS
      missed = isAnswered || wasPaused ? 0 : missed + 1
      if (missed === MAX_MISSED) {
        this.#hasHung = true
        if (!this.#isEnding) this.#loss ??= HANGS
        signalChild('SIGKILL', this.#child)
      }
      // The run does not go on for this.
      await new Promise<void>((resolve) => clock.setTimeout(resolve, sentAt.leftMs).unref())
    }
  }
}

/** What it said last of what went wrong, in parentheses: its log is removed with the run. */
function lastErrorIn(runDirectory: string): string {
  let log = ''
  try {
    log = readText(join(runDirectory, 'supervisor.log'))
  } catch {
    // It is for people only, and whoever waits for the exit is to be told in any case.
  }
  const error = log.split('\n').findLast((line) => /^\w*Error\b.*: /.test(line))
  return error === undefined ? '' : ` (${error})`
}
