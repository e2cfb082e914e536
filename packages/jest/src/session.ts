import {
  type BornChild,
  birthState,
  type Cell,
  endWithWorker,
  enterFile,
  formatSitesOf,
  noteCutShort,
  type Receipt,
  type RunHandle,
  Scope,
  type Settlement,
} from '@custody/core/worker'
import type { JestEnvironment } from '@jest/environment'
import type { TestResult } from '@jest/test-result'
import type { Circus } from '@jest/types'
import { publishBridge } from './bridge.js'
import { checkEvents, type KnownEvent } from './check-events.js'
import { withFailures } from './fail-file.js'
import { type Configs, entryOf, FileOutcome } from './file-outcome.js'
import { namesOfTest } from './names-of-test.js'
import { hideOurFrames, isTimeout, messagesOf } from './thrown.js'
import { wrapTree } from './wrap-tree.js'

const SESSION: unique symbol = Symbol.for('@custody/jest/session.1')

interface OpenTest {
  readonly attempt: number
  readonly cell: Cell
  readonly scope: Scope
}

type TestEventHandler = (event: Circus.Event, state: Circus.State) => void | Promise<void>

type Environment = JestEnvironment & { [SESSION]?: Session }

/**
 * Finds the session of an environment, or begins one. Runner and environment both ask, and whoever comes first makes it, so that nothing
 * is settled twice.
 */
export function attachSession(environment: JestEnvironment, run: RunHandle, testPath: string): Session {
  const target = environment as Environment
  target[SESSION] ??= new Session(target, run, testPath)
  return target[SESSION]
}

/** One test file in one environment. */
export class Session {
  readonly #scope: Scope
  readonly #file: Cell
  /** What the environment itself has started. */
  readonly #environments: readonly BornChild[]
  readonly #tests = new Map<Circus.TestEntry, OpenTest>()
  readonly #receipts = new Map<Circus.TestEntry, Receipt[]>()
  readonly #titles = new WeakMap<Circus.TestEntry, string>()
  readonly #seen = new Set<KnownEvent>()
  #current: OpenTest | null = null
  #hasFailed = false
  /** Whether the file has failed by itself: Jest says so of its hooks as they fail, and of the rest when all is over. */
  #isBroken = false
  readonly #outcome = new FileOutcome()
  #settling: Promise<Settlement> | null = null

  constructor(environment: Environment, run: RunHandle, testPath: string) {
    const state = birthState()
    // The runner has begun the file before its environment was made; an environment without our runner begins it here.
    this.#file = state.file !== null && state.file.birth.scope === null ? state.file : enterFile(run.id)
    this.#environments = [...this.#file.birth.children]
    state.runDirectory = run.options.markChildren ? run.directory : null
    this.#scope = Scope.openFile(run, this.#file.birth, {
      path: () => testPath,
      separator: ' › ',
    })
    publishBridge(environment)
    this.#patch(environment)
    endWithWorker()
  }

  /** Runs the file by the base runner. */
  watch(configs: Configs, runFile: () => TestResult | Promise<TestResult>): Promise<TestResult> {
    const running = this.#outcome.watch(configs, Promise.resolve(runFile()))
    // No event of Jest's tells that the file is over then.
    running.catch(() => this.#formatSites())
    return running
  }

  /** The cell of the test's running attempt. On Jest 29 the body of a concurrent test runs before its start is told. */
  cellOf(test: Circus.TestEntry): Cell {
    return this.#open(test).cell
  }

  /** The cell of whatever runs now, for hooks. */
  get currentCell(): Cell {
    return this.#current?.cell ?? this.#file
  }

  get fileCell(): Cell {
    return this.#file
  }

  #patch(environment: Environment): void {
    const { teardown } = environment
    const usersHandler = environment.handleTestEvent as TestEventHandler | undefined
    environment.handleTestEvent = (event: Circus.Event, state: Circus.State) => {
      // Before the user's own handler where something begins or was published, after it where the test ends.
      if (event.name !== 'test_done') {
        const ours = this.#onEvent(event, state)
        const theirs = () => usersHandler?.call(environment, event, state)
        return ours === undefined ? theirs() : ours.then(theirs)
      }
      const theirs = usersHandler?.call(environment, event, state)
      return isPromise(theirs) ? theirs.then(() => this.#endTest(event.test)) : this.#endTest(event.test)
    }
    environment.teardown = async () => {
      let failure: { error: unknown } | null = null
      try {
        await teardown.call(environment)
      } catch (error) {
        failure = { error }
      }
      // Their realm is gone: what they would do when their children exit ends the process in Jest 30.
      this.#scope.silence(this.#environments)
      const { failures, late } = await this.#settleFile()
      this.#outcome.leaveReceipts(this.#receipts)
      if (failure === null) return this.#outcome.fail({ failures, late })
      throw withFailures(failure.error, [...failures, ...late.map(({ error }) => error)])
    }
  }

  /** Synchronous unless there is something to wait for: Jest dispatches some events without waiting. */
  #onEvent(event: Circus.Event, state: Circus.State): Promise<void> | undefined {
    switch (event.name) {
      case 'setup':
        // Nothing tells an environment without our runner that its file could not be collected.
        this.#isBroken = true
        return undefined
      case 'run_start':
        this.#isBroken = false
        this.#seen.add('run_start')
        wrapTree(state.rootDescribeBlock, this)
        return undefined
      case 'test_start':
        this.#current = this.#open(event.test)
        return undefined
      case 'test_fn_start':
        // After a failed beforeEach the body does not run, and nothing says that it ended.
        return event.test.errors.length > 0 ? this.#capture(event.test) : undefined
      case 'hook_failure':
        if (event.test == null) this.#isBroken = true
        if (isTimeout(event.error)) noteCutShort(event.test == null ? this.#file : this.#open(event.test).cell)
        return this.#explain(event.error, event.test ?? null)
      case 'test_fn_failure':
        if (isTimeout(event.error)) noteCutShort(this.#open(event.test).cell)
        return this.#capture(event.test)
      case 'test_fn_success':
        return this.#capture(event.test)
      case 'teardown':
        this.#formatSites()
        return undefined
      default:
        return undefined
    }
  }

  #open(test: Circus.TestEntry): OpenTest {
    // Jest 29 counts a concurrent body as 0 while it runs, and as 1 when it is done.
    const attempt = Math.max(1, test.invocations)
    const known = this.#tests.get(test)
    if (known !== undefined && known.attempt === attempt) return known
    if (known !== undefined) formatSitesOf(known.scope.birth)
    const scope = this.#scope.openTest(() => this.#titleOf(test), test)
    const open: OpenTest = { attempt, scope, cell: { birth: scope.birth, countsOn: true, isOver: false } }
    this.#tests.set(test, open)
    return open
  }

  #formatSites(): void {
    for (const { scope } of [{ scope: this.#scope }, ...this.#tests.values()]) formatSitesOf(scope.birth)
  }

  #titleOf(test: Circus.TestEntry): string {
    let title = this.#titles.get(test)
    if (title === undefined) {
      title = namesOfTest(test).join(' › ')
      this.#titles.set(test, title)
    }
    return title
  }

  #capture(test: Circus.TestEntry): Promise<void> | undefined {
    const { scope } = this.#open(test)
    return scope.isIdle ? undefined : scope.capture()
  }

  /** Adds to a finalizer's error what is known of its cause. */
  #explain(error: unknown, test: Circus.TestEntry | null): Promise<void> | undefined {
    const { message } = (error ?? {}) as { message?: unknown }
    if (typeof message !== 'string') return undefined
    return (test === null ? this.#scope : this.#open(test).scope).explain([error as Error])
  }

  #endTest(test: Circus.TestEntry): Promise<void> | undefined {
    const { cell, scope } = this.#open(test)
    this.#seen.add('test_done')
    if (test.errors.length > 0) this.#hasFailed = true
    hideOurFrames(test.errors)
    cell.isOver = true
    this.#current = null
    const { isIdle } = scope
    const settling = scope.settle({ hasFailed: test.errors.length > 0, said: messagesOf(test.errors) })
    if (isIdle) {
      this.#tests.delete(test)
      return undefined
    }
    return settling.then(({ failures, receipts }) => {
      this.#keep(test, receipts)
      // A throw here would end the file; the list makes the test red, also one that was expected to fail.
      test.errors.push(...failures.map((failure) => [failure, undefined] as Circus.TestError & [Error, undefined]))
      if (failures.length > 0) this.#hasFailed = true
    })
  }

  #keep(test: Circus.TestEntry, receipts: readonly Receipt[]): void {
    if (receipts.length > 0) this.#receipts.set(test, [...(this.#receipts.get(test) ?? []), ...receipts])
  }

  /** Jest 29 calls a teardown that throws a second time: what was found stays the same. */
  #settleFile(): Promise<Settlement> {
    this.#settling ??= this.#endFile()
    return this.#settling
  }

  async #endFile(): Promise<Settlement> {
    const left = [...this.#tests.values()].filter(({ scope }) => !scope.isOver && !scope.isIdle)
    const isBroken = this.#isBroken || this.#outcome.isBroken
    const hasFailed = this.#hasFailed || isBroken
    const settlements = await Promise.all(left.map(({ scope }) => scope.settle({ hasFailed })))
    for (const [at, { receipts }] of settlements.entries()) {
      const test = left[at] && entryOf(left[at].scope)
      if (test !== undefined) this.#keep(test, receipts)
    }
    const { hasRunTests, isWhole } = this.#outcome
    for (const fault of hasRunTests ? await checkEvents(this.#seen, this.#scope.run) : []) this.#scope.noteFault(fault)
    settlements.push(await this.#scope.settle({ hasFailed, isBroken, isWhole }))
    this.#file.isOver = true
    return {
      receipts: settlements.flatMap(({ receipts }) => receipts),
      failures: settlements.flatMap(({ failures }) => failures),
      late: settlements.flatMap(({ late }) => late),
    }
  }
}

function isPromise(value: unknown): value is Promise<void> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function'
}
