import { pathToFileURL } from 'node:url'
import type { Identity } from '@custody/runtime'
import { type CustodyError, Deadline, isInScope } from '@custody/runtime/internals'
import { isKnown } from '../leaks/baseline.js'
import { familyOf, findLeft, type Left } from '../leaks/find-left.js'
import { reasonToAllow } from '../leaks/reason-to-allow.js'
import { sharedBaseline } from '../leaks/shared-baseline.js'
import { signatureOf } from '../leaks/signature.js'
import { waitForExits } from '../leaks/wait-for-exits.js'
import { noteBirth } from '../namespace/be-born.js'
import { type Birth, type BornChild, birthState, newBirth, type SetupWatch, type SpawnSite } from '../namespace/birth-state.js'
import { noteChild } from '../namespace/born-children.js'
import { runInCell } from '../namespace/cells.js'
import { takeEarlySpawns } from '../namespace/early-spawns.js'
import { markChildren } from '../namespace/mark-children.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { RunEvent } from '../report/events.js'
import { leakError } from '../report/leak-error.js'
import { allowedEvent, leakEvent, toldLeak } from '../report/leak-events.js'
import type { RunHandle } from '../scope/run-handle.js'
import { timeLimits } from '../scope/time-limits.js'
import type { Birthmark } from '../tree/birthmark.js'

/** The part of an id that stands for what global setups start. */
const SETUP = 'setup'

/** Whether something was born of a global setup. */
export function isOfSetup(run: NamespaceId, id: NamespaceId): boolean {
  return isInScope(id, `${run}.${SETUP}`)
}

/** What the global setups have left. */
export interface SetupsJudgement {
  readonly events: readonly RunEvent[]
  readonly failures: readonly CustodyError[]
  /** What is to end now, each by its identity: started before the run was open, it carries no mark to be found by. */
  readonly ending: readonly Identity[]
}

/**
 * What the users' global setups start, in the runner's main process. It ends with their own teardowns, and is judged after these.
 * Whatever else the main process starts is the runner's.
 */
export class GlobalSetups {
  readonly #run: RunHandle
  readonly #birth: Birth
  readonly #watch: SetupWatch
  readonly #files = new Set<string>()
  #early: readonly BornChild[]

  constructor(run: RunHandle) {
    this.#run = run
    this.#birth = newBirth(`${run.id}.${SETUP}`)
    this.#early = takeEarlySpawns()
    this.#watch = {
      // What its code starts late is still its own.
      cell: { birth: this.#birth, countsOn: true, isOver: false },
      runDirectory: run.options.markChildren ? run.directory : null,
      accepts: (site) => this.#accepts(site),
    }
    birthState().setups.add(this.#watch)
    markChildren()
  }

  /** Takes what is started with a frame of one of these files for theirs, and what was. */
  watch(files: readonly string[]): void {
    for (const file of files) this.#files.add(file)
    for (const child of this.#early.filter(({ site }) => this.#accepts(site))) {
      noteBirth(this.#birth, child.site)
      noteChild(this.#birth, child)
    }
    this.#early = this.#early.filter(({ site }) => !this.#accepts(site))
  }

  /** Runs one. */
  enter<T>(setup: () => T): T {
    return runInCell(this.#watch.cell, true, setup)
  }

  /** The namespace of what they start. */
  get namespace(): NamespaceId {
    return this.#birth.id
  }

  /** What shows that something is theirs; null when they have started nothing. */
  get mark(): Birthmark | null {
    if (this.#birth.spawned === 0) return null
    return { namespace: this.#birth.id, files: [], known: this.#look().map(({ identity }) => identity) }
  }

  /** Ends the watch: what the main process starts from now on is nobody's. */
  close(): void {
    birthState().setups.delete(this.#watch)
  }

  /** Helpers of the main process, with what these have started: they go on as long as it does. */
  get helpers(): Identity[] {
    return this.#look()
      .filter(({ isOfWorker }) => isOfWorker)
      .flatMap(familyOf)
  }

  /** Judges what they have left when they were torn down, and when whoever is just exiting has had its time. */
  async judge(): Promise<SetupsJudgement> {
    const { options } = this.#run
    const events: RunEvent[] = []
    const failures: CustodyError[] = []
    const ending: Identity[] = []
    if (options.leaks === 'off') return { events, failures, ending }
    const baseline = sharedBaseline(this.#run)
    const starter = { kind: 'setup', name: 'the global setup', sites: this.#birth.sites }
    for (const left of await this.#untilExited()) {
      const { command, identity } = left
      const why = reasonToAllow(command, [], options)
      const signature = signatureOf({ project: '', file: '', test: '' }, command, this.#run.root)
      const found = { identity, command, by: starter.name, signature, isKnown: isKnown(signature, baseline) }
      if (why === null || why.isEnded) ending.push(...familyOf(left))
      if (why !== null) events.push(allowedEvent(identity.pid, command, why.reason))
      else if (options.leaks === 'warn' || found.isKnown) events.push(...toldLeak(found))
      else {
        events.push(leakEvent(found, true))
        failures.push(leakError(left, starter, this.#run))
      }
    }
    return { events, failures, ending }
  }

  /** Without helpers of the main process, which go on as long as it does, and only what is worth waiting for is waited for. */
  async #untilExited(): Promise<Left[]> {
    const { options } = this.#run
    const deadline = Deadline.after(options.leaks === 'fail' ? timeLimits(options).exitMs : 0)
    for (;;) {
      const left = this.#look().filter(({ isOfWorker }) => !isOfWorker)
      const awaited = left.filter(({ command }) => reasonToAllow(command, [], options)?.isAwaited !== false)
      if (awaited.length === 0 || deadline.hasPassed) return left
      await waitForExits(awaited.flatMap(familyOf), deadline)
    }
  }

  #look(): Left[] {
    const { children, id, spawned } = this.#birth
    return spawned === 0 ? [] : findLeft(id, [{ id, children }], this.#run.runner)
  }

  #accepts({ stack }: SpawnSite): boolean {
    // A user's Error.prepareStackTrace may have made anything of it.
    if (typeof stack !== 'string') return false
    return [...this.#files].some((file) => stack.includes(file) || stack.includes(pathToFileURL(file).href))
  }
}
