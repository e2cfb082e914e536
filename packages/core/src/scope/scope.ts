import { relative, sep } from 'node:path'
import { type CustodyError, hasCode } from '@custody/runtime/errors'
import { sharedBaseline } from '../leaks/shared-baseline.js'
import { type Birth, type BornChild, birthState, newBirth, type SpawnSite } from '../namespace/birth-state.js'
import { silence } from '../namespace/born-children.js'
import { NamespaceDirectory } from '../namespace/namespace.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import { newRunNumber } from '../namespace/new-file-id.js'
import type { TestAllowance } from '../options/options.js'
import type { Receipt } from '../retire/receipt.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { UsersError } from './explain-removal.js'
import { FileBooks } from './file-books.js'
import { Holdings, type Use } from './holdings.js'
import { inUseIfLoaded, loadInUse } from './load-in-use.js'
import { namespaceOfWidth } from './namespace-of-width.js'
import type { RunHandle } from './run-handle.js'
import type { Captured } from './teardown.js'
import { teardownFailed } from './teardown-failed.js'

/** How a file is called; made only when it is needed. */
export interface FileNames {
  /** Where it is, as an absolute path. */
  path(): string
  /** What the runner prints between a file and the title of a test. */
  readonly separator: string
}

/** What a scope's own end has come to before Custody looks. */
export interface RunnersVerdict {
  readonly hasFailed: boolean
  /** The messages of its own errors. */
  readonly said?: readonly string[]
  /** Whether its test was skipped while it ran. */
  readonly isSkipped?: boolean
  /** Whether the runner has given its test up: it was not let come to its own end. */
  readonly isCancelled?: boolean
  /** Whether it is a file that has failed by itself, in a hook of its own or before its tests: not for a test in it. */
  readonly isBroken?: boolean
  /** Whether it is a file of which every test has run and passed. */
  readonly isWhole?: boolean
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
/** One for all idle tests: they are many. */
const settledIdle: Promise<Settlement> = Promise.resolve(nothing)

/**
 * One file, or one attempt of a test, and what it accounts for. An adapter drives it: open, then `capture` right after the body and
 * before any finalizer, then `settle` after all of them. A scope in which nothing was started costs neither a file nor a system call.
 */
export class Scope {
  readonly kind: 'file' | 'test' | 'sibling' | 'wide'
  readonly run: RunHandle
  readonly birth: Birth
  readonly file: Scope | null
  readonly namespace: NamespaceDirectory
  /** Its file's. */
  readonly books: FileBooks
  /** The test or file beside which a namespace was opened, or that started something wider than itself. */
  readonly opener: Scope | null
  /** The same for all attempts of one test. */
  readonly test: object
  /** Whether its own test has failed, or the file by itself, as it was told at its settlement. */
  hasFailed = false
  /** Whether the runner has given its test up. */
  isCancelled = false
  /** The messages of its own errors, as they were told then. */
  said: readonly string[] = []
  readonly #names: FileNames
  readonly #title: (() => string) | null
  #holdings: Holdings | null = null
  #counter = 0
  #lease: Promise<SupervisorLink> | null = null
  #captured: Captured | null = null
  #settling: Promise<Settlement> | null = null
  /** What went wrong with the teardown itself. A runner's hook must not throw: that would cost the results of the file. */
  faults: readonly CustodyError[] = []

  private constructor(kind: Scope['kind'], run: RunHandle, birth: Birth, names: FileNames, above: Above = {}) {
    const { file = null, opener = null, test = this, title = null } = above
    this.test = test
    this.kind = kind
    this.opener = opener
    this.run = run
    this.birth = birth
    this.#names = names
    this.#title = title
    this.file = file
    this.namespace = new NamespaceDirectory(birth.id, run)
    this.books = file?.books ?? new FileBooks(hasKnownLeaks(this))
    birth.scope = this
  }

  /** @param birth the one under which the file's first processes were born already */
  static openFile(run: RunHandle, birth: Birth, names: FileNames): Scope {
    birthState().onStray ??= noteStray
    return new Scope('file', run, birth, names)
  }

  /**
   * Opens one attempt of a test of this file.
   * @param title made only when it is needed
   * @param test what is the same for all attempts of one test
   */
  openTest(title: () => string, test?: object): Scope {
    const file = this.file ?? this
    const birth = newBirth(`${file.id}.${++file.#counter}`, file.birth)
    return new Scope('test', this.run, birth, this.#names, { file, title, ...(test && { test }) })
  }

  /** Opens a namespace beside this one: neither is above the other, so what belongs to one is foreign to the other. */
  openSibling(name: string): Scope {
    const file = this.file ?? this
    // What is started in it is started by this scope's lines.
    const birth: Birth = { ...newBirth(`${file.id}.n${++file.#counter}`, file.birth), sites: this.birth.sites }
    const title = () => `${this.title} › ${name}`
    const sibling = new Scope('sibling', this.run, birth, this.#names, { file, opener: this, title })
    this.#held.siblings.set(name, sibling)
    return sibling
  }

  /** Opens what is wider than the file: what is started in it ends with the run. */
  openWide(width: 'worker' | 'run'): Scope {
    const birth: Birth = { ...newBirth(namespaceOfWidth(this.run, width)), sites: this.birth.sites }
    return new Scope('wide', this.run, birth, this.#names, { file: this.file ?? this, opener: this, title: () => this.title })
  }

  /** The titles of a test and of what stands around it; empty for a file. */
  get title(): string {
    return this.#title?.() ?? ''
  }

  get accounted(): Set<string> {
    return this.books.accounted
  }

  get siblings(): ReadonlyMap<string, Scope> {
    return (this.#holdings ?? none).siblings
  }

  get starting(): ReadonlyMap<AbortController, Promise<unknown>> {
    return (this.#holdings ?? none).starting
  }

  get uses(): ReadonlyMap<string, Use> {
    // Who has asked for something wide uses it.
    return this.kind === 'wide' && this.opener !== null ? this.opener.uses : (this.#holdings ?? none).uses
  }

  get allowances(): readonly TestAllowance[] {
    return (this.#holdings ?? none).allowances
  }

  /** What may be left of it, as it or its file has declared. */
  get declared(): readonly TestAllowance[] {
    return [...this.allowances, ...(this.file?.allowances ?? [])]
  }

  /** Of a file those of its tests that started something; a test has none below it. */
  get starters(): ReadonlyMap<NamespaceId, Scope> {
    return this.file === null ? this.books.starters : nobody
  }

  /** Its own birth, and those of its tests that started something. */
  get births(): Birth[] {
    return [this.birth, ...[...this.starters.values()].map(({ birth }) => birth)]
  }

  get #held(): Holdings {
    this.#holdings ??= new Holdings()
    return this.#holdings
  }

  /** Notes that it uses a runtime. */
  use(instance: string, use: Use): void {
    if (this.kind === 'wide' && this.opener !== null) this.opener.use(instance, use)
    else this.#held.uses.set(instance, use)
  }

  /** Declares what may be left of it. */
  allow(allowance: TestAllowance): void {
    this.#held.allowances.push(allowance)
  }

  /** The file, or the full name of the test. Which project it is of shows in the path. */
  get name(): string {
    return this.title === '' ? this.path : `${this.path}${this.#names.separator}${this.title}`
  }

  /** Where the file is, relative to the root of the run. */
  get path(): string {
    return this.#pathFrom(this.run.root)
  }

  /** The same, relative to the project's root. */
  get pathInProject(): string {
    return this.#pathFrom(this.run.projectRoot)
  }

  #pathFrom(root: string): string {
    return relative(root, this.#names.path()).replaceAll(sep, '/')
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
    this.#held.starting.set(controller, starting)
    try {
      return await starting
    } finally {
      this.#held.starting.delete(controller)
    }
  }

  /**
   * Takes all listeners from what this file and its tests have started: for when the realm of their code is gone.
   * @param except what other code has started
   */
  silence(except: readonly BornChild[]): void {
    for (const birth of this.births) silence(birth, except)
  }

  /** A number that no other runtime of this scope has. */
  nextNumber(): bigint | number {
    // Other files, and other workers, have the same wide scope.
    return this.kind === 'wide' ? newRunNumber() : ++this.#counter
  }

  /**
   * The connection of this file with the supervisor. It is a lease: what the file and its tests have started ends with it.
   * @throws CUSTODY_SUPERVISOR_UNREACHABLE
   */
  lease(): Promise<SupervisorLink> {
    const file = this.file ?? this
    if (file.#lease === null) {
      const lease = loadInUse().then(({ SupervisorLink }) =>
        SupervisorLink.open(this.run.directory, { role: 'worker', file: file.id }),
      )
      file.#lease = lease
      // What a test had in its way need not be in that of the next. What has taken its whole time is not waited for again.
      lease.catch(({ cause }: Error) => {
        if (!hasCode(cause, 'CUSTODY_LOCATOR_MISSING', 'CUSTODY_ANSWER_TIMEOUT')) file.#lease = null
      })
    }
    return file.#lease
  }

  /** Whether its settlement has begun. Nothing can be started in it any more. */
  get isOver(): boolean {
    return this.kind === 'wide' ? this.file?.isOver === true : this.#settling !== null
  }

  /** Reads what was published so far into memory. The finalizers may delete the files. */
  async capture(): Promise<void> {
    if (this.isIdle || this.isOver) return
    try {
      const { capture } = await loadInUse()
      this.#captured = capture(this)
    } catch {
      // A test may have put a file system of its own in the place of the true one. The look after its finalizers fails too, or finds all.
    }
    for (const sibling of this.siblings.values()) await sibling.capture()
  }

  /** Adds to errors of the user's own finalizers what this scope knows of their causes. */
  async explain(errors: readonly UsersError[]): Promise<void> {
    if (errors.length === 0 || (this.file ?? this).birth.spawned === 0) return
    try {
      const { explainRemoval } = await loadInUse()
      for (const error of errors) explainRemoval(this, error)
    } catch (cause) {
      this.noteFault(teardownFailed(this, 'explain an error of', cause))
    }
  }

  /** Verifies, retires what is owned, and asserts its exit; of an idle scope it is only the end. Settles once, however often it is asked. */
  settle(verdict: RunnersVerdict): Promise<Settlement> {
    if (this.#settling !== null) return this.#settling
    this.hasFailed = this.kind === 'file' ? (verdict.isBroken ?? false) : verdict.hasFailed
    this.isCancelled = verdict.isCancelled ?? false
    this.said = verdict.said ?? []
    if (this.kind === 'test') this.books.noteEnd(this, verdict.hasFailed, verdict.isSkipped ?? false)
    this.#settling = this.kind === 'test' && this.isIdle ? settledIdle : this.#settle(verdict)
    return this.#settling
  }

  async #settle({ hasFailed, isWhole = false }: RunnersVerdict): Promise<Settlement> {
    if (this.kind === 'file' && this.books.passed !== null) await this.#tellPassed(this.books.passed, isWhole)
    const isIdleFile = this.kind === 'file' && this.books.failures.length + this.faults.length === 0
    if (this.isIdle && this.#lease === null && (this.kind !== 'file' || isIdleFile)) return nothing
    if (this.file !== null) this.books.starters.set(this.id, this)
    try {
      const { settleInTime } = await loadInUse()
      return await settleInTime(this, this.#captured, hasFailed)
    } catch (cause) {
      return { ...nothing, failures: [...this.faults, teardownFailed(this, 'settle', cause)] }
    } finally {
      // One that could not be had was told where it was asked for.
      await this.#lease?.then(
        (link) => link.leave(),
        () => {},
      )
    }
  }

  /** Notes what is wrong with it, once. */
  noteFault(fault: CustodyError): void {
    if (this.faults.some(({ message }) => message === fault.message)) return
    this.faults = [...this.faults, fault]
  }

  async #tellPassed(passed: readonly string[], isWhole: boolean): Promise<void> {
    const { leakPolicyOf, normalizeTitle, writeEvents } = await loadInUse()
    // Where nothing is looked for, nothing is fixed.
    if (leakPolicyOf(this) === 'off') return
    const { directory, projectName: project, root } = this.run
    const titles = passed.map((title) => normalizeTitle(title, root))
    writeEvents(directory, [{ type: 'judged', project, file: this.path, passed: titles, isWhole }])
  }

  /** Whether nothing has happened in it: then there is nothing to capture and nothing to settle. */
  get isIdle(): boolean {
    return this.birth.spawned === 0 && !this.namespace.isMade && (this.#holdings === null || this.#holdings.isEmpty)
  }
}

const none = new Holdings()
const nobody: ReadonlyMap<NamespaceId, Scope> = new Map()

/** Notes what code of a test has started after the test. When its file has ended as well, nobody but the run looks any more. */
function noteStray({ id, scope }: Birth, site: SpawnSite): void {
  const stray = scope as Scope
  if (stray.file !== null) stray.books.starters.set(id, stray)
  if (!(stray.file ?? stray).isOver) return
  // Inside of a spawn, which waits for nothing. Mostly it is loaded by then.
  const inUse = inUseIfLoaded()
  if (inUse !== null) inUse.noteStray(stray, site)
  else void loadInUse().then((loaded) => loaded.noteStray(stray, site))
}

interface Above {
  readonly file?: Scope | null
  readonly opener?: Scope | null
  readonly test?: object
  readonly title?: () => string
}

function hasKnownLeaks(scope: Scope): boolean {
  const { leaks = [] } = sharedBaseline(scope.run) ?? {}
  return leaks.length > 0 && leaks.some(({ file, project }) => file === scope.path && project === scope.run.projectName)
}
