import { pathToFileURL } from 'node:url'
import type { CustodyError } from '@custody/runtime/internals'
import { isKnown, normalizeCommand } from '../leaks/baseline.js'
import { findLeft, type Left } from '../leaks/find-left.js'
import { sharedBaseline } from '../leaks/shared-baseline.js'
import { type Birth, birthState, type Cell, markChildren, newBirth, runInCell, type SpawnSite } from '../namespace/birth.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { RunEvent } from '../report/events.js'
import { leakError } from '../report/leak-error.js'
import type { RunHandle } from '../scope/run-handle.js'
import { findAllowance } from '../tree/allowance.js'
import type { Birthmark } from '../tree/birthmark.js'
import { isCommonHelper } from '../tree/common-helpers.js'

/** The part of an id that stands for what global setups start. */
const SETUP = 'setup'

/** Whether something was born of a global setup. */
export function isOfSetup(run: NamespaceId, id: NamespaceId): boolean {
  return id === `${run}.${SETUP}` || id.startsWith(`${run}.${SETUP}.`)
}

/**
 * What the users' global setups start, in the runner's main process. It ends with their own teardowns, and is judged after these.
 * Whatever else the main process starts is the runner's.
 */
export class GlobalSetups {
  readonly #run: RunHandle
  readonly #birth: Birth
  readonly #cell: Cell
  readonly #files = new Set<string>()

  constructor(run: RunHandle) {
    this.#run = run
    this.#birth = newBirth(`${run.id}.${SETUP}`)
    // What its code starts late is still its own.
    this.#cell = { kind: 'attempt', birth: this.#birth, isOver: false }
    const state = birthState()
    state.runDirectory = run.options.markChildren ? run.directory : null
    state.setup = { cell: this.#cell, accepts: (site) => this.#accepts(site) }
    markChildren()
  }

  /** Takes what is started with a frame of one of these files for theirs. */
  watch(files: readonly string[]): void {
    for (const file of files) this.#files.add(file)
  }

  /** Runs one. */
  enter<T>(setup: () => T): T {
    return runInCell(this.#cell, true, setup)
  }

  /** What shows that something is theirs; null when they have started nothing. */
  get mark(): Birthmark | null {
    if (this.#birth.spawned === 0) return null
    return { namespace: this.#birth.id, files: [], known: this.#look().map(({ identity }) => identity) }
  }

  /** Ends the watch: what the main process starts from now on is nobody's. */
  close(): void {
    birthState().setup = null
  }

  /** What is left of them; without helpers of the main process, which go on as long as it does. */
  findLeft(): Left[] {
    const { allow, commonHelpers } = this.#run.options
    return this.#look().filter(
      ({ command, isOfWorker }) =>
        !isOfWorker && findAllowance(command, allow) === null && !(commonHelpers && isCommonHelper(command)),
    )
  }

  /** Whether a helper of the main process goes on. */
  get hasHelpers(): boolean {
    return this.#look().some(({ isOfWorker }) => isOfWorker)
  }

  /** What it is that something was left. */
  judge(left: readonly Left[]): { readonly events: readonly RunEvent[]; readonly failures: readonly CustodyError[] } {
    const { options, root } = this.#run
    const baseline = sharedBaseline(this.#run)
    const starter = { kind: 'run', name: 'the global setup', sites: this.#birth.sites }
    const events: RunEvent[] = []
    const failures: CustodyError[] = []
    for (const each of left) {
      const { command, identity } = each
      const known = { project: '', file: '', test: '', argv: normalizeCommand(command, root) }
      const isRed = options.leaks === 'fail' && (baseline === null || !isKnown(known, baseline))
      events.push({ type: 'leak', pid: identity.pid, command, by: starter.name, isRed, known })
      if (isRed) failures.push(leakError(each, starter, { explain: options.explain, root }))
      else events.push({ type: 'warning', text: `${starter.name} left pid ${identity.pid}: ${command.join(' ')}` })
    }
    return { events, failures }
  }

  #look(): Left[] {
    const { children, id, spawned } = this.#birth
    return spawned === 0 ? [] : findLeft(id, [{ namespace: id, children }], this.#run.runner)
  }

  #accepts({ stack }: SpawnSite): boolean {
    // A user's Error.prepareStackTrace may have made anything of it.
    if (typeof stack !== 'string') return false
    return [...this.#files].some((file) => stack.includes(file) || stack.includes(pathToFileURL(file).href))
  }
}
