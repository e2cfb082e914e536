import type { Identity } from '@custody/runtime'
import { CustodyError } from '@custody/runtime/errors'
import type { CapturedLocator } from '../locators/capture.js'
import { type Birth, newBirth, type SpawnSite } from '../namespace/birth.js'
import { NamespaceDirectory } from '../namespace/namespace.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Receipt } from '../retire/receipt.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { RunHandle } from './run-handle.js'
import type { Captured } from './teardown.js'

/** A started runtime in the hands of a scope. */
export interface Use {
  readonly name: string
  readonly onExit: 'fail' | 'ignore'
  /** Whether it is what a command has left behind that exits with 0. */
  readonly hasDaemonized: boolean
  /** Milliseconds that it may take to obey. */
  readonly graceMs: number
  /** Whether its last lines are shown when the scope has failed. */
  readonly isShown: boolean
  /** Where it was asked for. */
  readonly site: SpawnSite
  /** The last lines of its output. */
  tail(): string
}

/** How a scope ended. */
export interface Settlement {
  readonly receipts: readonly Receipt[]
  /** Each is a reason for the scope to be red. All of them are here; none replaces another. */
  readonly failures: readonly CustodyError[]
  /** The same for tests of this file that have ended before. */
  readonly late: readonly { readonly of: Scope; readonly error: CustodyError }[]
}

const nothing: Settlement = { receipts: [], failures: [], late: [] }

/**
 * One file, or one attempt of a test, and what it accounts for. An adapter drives it: open, then `capture` right after the body and
 * before any finalizer, then `settle` after all of them. A scope in which nothing was started costs neither a file nor a system call.
 */
export class Scope {
  readonly kind: 'file' | 'test' | 'sibling'
  readonly run: RunHandle
  readonly birth: Birth
  readonly file: Scope | null
  readonly namespace: NamespaceDirectory
  /** Namespaces opened beside this one; they end with it at the latest. */
  readonly siblings: Map<string, Scope> = new Map()
  /** What this file has accounted for; shared by all of its scopes. */
  readonly accounted: Set<string>
  /** Those of its tests that started something, by their namespaces. */
  readonly starters: Map<NamespaceId, Scope> = new Map()
  /** Captures of its tests that this file accounts for. */
  readonly held: CapturedLocator[] = []
  /** Starts that are under way. What is not ready when the scope ends is stopped, and told. */
  readonly starting: Map<AbortController, Promise<unknown>> = new Map()
  /** The runtimes that it has started, or shares. */
  readonly uses: Map<string, Use> = new Map()
  /** The test or file beside which a namespace was opened. */
  readonly opener: Scope | null
  /** Whether its own test has failed, as it was told at its settlement. */
  hasFailed = false
  /** Processes that were judged by their locators. */
  readonly #judged: Identity[] = []
  readonly #name: () => string
  #counter = 0
  #lease: Promise<SupervisorLink> | null = null
  #captured: Captured | null = null
  #settling: Promise<Settlement> | null = null
  /** What went wrong with the teardown itself. A runner's hook must not throw: that would cost the results of the file. */
  readonly #faults: CustodyError[] = []

  private constructor(
    kind: Scope['kind'],
    run: RunHandle,
    birth: Birth,
    name: () => string,
    { file = null, opener = null }: { file?: Scope | null; opener?: Scope | null } = {},
  ) {
    this.kind = kind
    this.opener = opener
    this.run = run
    this.birth = birth
    this.#name = name
    this.file = file
    this.accounted = file?.accounted ?? new Set()
    this.namespace = new NamespaceDirectory(birth.id, run)
    birth.scope = this
  }

  /**
   * @param birth the one under which the file's first processes were born already
   * @param name the file's, made only when it is needed
   */
  static openFile(run: RunHandle, birth: Birth, name: () => string): Scope {
    return new Scope('file', run, birth, name)
  }

  /** Opens one attempt of a test of this file. */
  openTest(name: () => string): Scope {
    const file = this.file ?? this
    return new Scope('test', this.run, newBirth(`${file.id}.${++file.#counter}`, file.birth), name, { file })
  }

  /** Opens a namespace beside this one: neither is above the other, so what belongs to one is foreign to the other. */
  openSibling(name: string): Scope {
    const file = this.file ?? this
    // What is started in it is started by this scope's lines.
    const birth: Birth = { ...newBirth(`${file.id}.n${++file.#counter}`, file.birth), sites: this.birth.sites }
    const sibling = new Scope('sibling', this.run, birth, () => `${this.name} › ${name}`, { file, opener: this })
    this.siblings.set(name, sibling)
    return sibling
  }

  /** The file, or the full name of the test. */
  get name(): string {
    return this.#name()
  }

  get sites(): readonly SpawnSite[] {
    return this.birth.sites
  }

  /** The test of this file that started what was born in a namespace, or this scope itself. */
  starterOf(namespace: NamespaceId | null): Scope {
    return (namespace === null ? undefined : this.starters.get(namespace)) ?? this
  }

  get id(): NamespaceId {
    return this.birth.id
  }

  /** Runs a start that its scope's end aborts. It counts from the call on, before anything is loaded. */
  async whileStarting<T>(begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const starting = begin(controller.signal)
    this.starting.set(controller, starting)
    try {
      return await starting
    } finally {
      this.starting.delete(controller)
    }
  }

  /** Notes that a process was judged by its locator. */
  noteJudged(identity: Identity): void {
    ;(this.file ?? this).#judged.push(identity)
  }

  isJudged({ pid, start }: Identity): boolean {
    return (this.file ?? this).#judged.some((each) => each.pid === pid && each.start === start)
  }

  /** A number that no other runtime of this scope has. */
  nextNumber(): number {
    return ++this.#counter
  }

  /**
   * The connection of this file with the supervisor. It is a lease: what the file and its tests have started ends with it.
   * @throws CUSTODY_SUPERVISOR_UNREACHABLE
   */
  lease(): Promise<SupervisorLink> {
    const file = this.file ?? this
    file.#lease ??= import('../supervisor/link.js').then(({ SupervisorLink }) =>
      SupervisorLink.open(this.run.directory, { role: 'worker', file: file.id }),
    )
    return file.#lease
  }

  /** Whether its settlement has begun. Nothing can be started in it any more. */
  get isOver(): boolean {
    return this.#settling !== null
  }

  /** Reads what was published so far into memory. The finalizers may delete the files. */
  async capture(): Promise<void> {
    if (this.isIdle || this.isOver) return
    try {
      const { capture } = await import('./teardown.js')
      this.#captured = capture(this)
    } catch (cause) {
      this.#faults.push(teardownFailed(this, 'capture', cause))
    }
    for (const sibling of this.siblings.values()) await sibling.capture()
  }

  /** Verifies, retires what is owned, and asserts its exit; of an idle scope it is only the end. Settles once, however often it is asked. */
  settle({ hasFailed }: { hasFailed: boolean }): Promise<Settlement> {
    this.hasFailed ||= hasFailed
    this.#settling ??= this.#settle(hasFailed)
    return this.#settling
  }

  async #settle(hasFailed: boolean): Promise<Settlement> {
    if (this.isIdle && this.#lease === null) return nothing
    this.file?.starters.set(this.id, this)
    try {
      const { settle } = await import('./teardown.js')
      const { failures, late, receipts } = await settle(this, this.#captured, hasFailed)
      return { receipts, failures: [...this.#faults, ...failures], late }
    } catch (cause) {
      return { ...nothing, failures: [...this.#faults, teardownFailed(this, 'settle', cause)] }
    } finally {
      // One that could not be had was told where it was asked for.
      await this.#lease?.then(
        (link) => link.close(),
        () => {},
      )
    }
  }

  /** Whether nothing has happened in it: then there is nothing to capture and nothing to settle. */
  get isIdle(): boolean {
    return (
      this.birth.spawned === 0 &&
      !this.namespace.isMade &&
      this.siblings.size === 0 &&
      this.uses.size === 0 &&
      this.starting.size === 0
    )
  }
}

/** A fault of the teardown itself. */
export function teardownFailed({ name }: { readonly name: string }, verb: string, cause: unknown): CustodyError {
  if (cause instanceof CustodyError) return cause
  const { message } = cause as Error
  return new CustodyError('CUSTODY_TEARDOWN_FAILED', `Could not ${verb} ${name}: ${message}`, {
    hint: 'this is a fault of the machine or of Custody; the cause says where.',
    facts: { scope: name },
    cause,
  })
}
