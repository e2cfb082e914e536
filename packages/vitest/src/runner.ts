import {
  birthState,
  CustodyError,
  enterCell,
  markChildren,
  type RunHandle,
  type RunnersVerdict,
  type Scope,
  type Settlement,
} from '@custody/core/worker'
import type { RunnerTestCase, RunnerTestFile, RunnerTestSuite } from 'vitest'
import * as vitest from 'vitest'
import { loadBaseRunner, type RunnerClass, type RunnerHooks } from './base-runner.js'
import { isTraced, tellUntraced } from './check-engine.js'
import { checkHooks, isKnown } from './check-hooks.js'
import { offerTest } from './custody-test.js'
import { placeFixtures } from './fixtures.js'
import { HeldUpdates } from './held-updates.js'
import { OpenFiles, type OpenTest } from './open-files.js'
import type { Provided } from './provided.js'
import { annotate, leaveReceipts } from './receipts.js'
import { fail, hasFailed, isBroken, isConcurrent, isFile, isWhole, markFailed, messagesOf } from './tasks.js'

const provided = providedOrThrow()
const run: RunHandle = { ...provided.run, slot: process.env['VITEST_POOL_ID'] ?? '0' }
const state = birthState()
state.runDirectory = run.options.markChildren ? run.directory : null
markChildren()

placeFixtures(vitest.test)
offerTest(vitest.test)

const Base: RunnerClass = await loadBaseRunner(provided.baseRunner)

const files = new OpenFiles(run)
const holders = new WeakMap<RunnerHooks, HeldUpdates>()
/** Has Vitest look once more whether a test is one too many for `bail`; the user's own hook is not called again. */
const recounts = new WeakMap<RunnerHooks, (test: RunnerTestCase) => Promise<void>>()
/** Those whose run was given up. */
const cancelled = new WeakSet<RunnerHooks>()

/**
 * Opens a scope for each file and each attempt of a test, captures after the body, and settles after all finalizers. Which hook runs when
 * is in docs/upstream.md. A scope is entered before the first await of a hook: later it would not reach what runs after the hook.
 */
class CustodyRunner extends Base {
  constructor(config: unknown) {
    super(config)
    settleBeforeBail(this)
    holders.set(this, new HeldUpdates(this))
  }

  override onCollectStart(file: RunnerTestFile): unknown {
    files.open(file)
    const collect = () => super.onCollectStart?.(file)
    const seen = { onTaskUpdate: holders.get(this)?.isHooked === true, onAfterRunTask: recounts.has(this) }
    if (isKnown(seen) && isTraced) return collect()
    return checkHooks(seen, run)
      .then(() => (isTraced ? undefined : tellUntraced(run)))
      .then(collect)
  }

  override onBeforeRunSuite(suite: RunnerTestSuite): unknown {
    if (isFile(suite)) enterCell(files.open(suite).cell)
    // A test beside it may have begun in the same turn, and its scope would be that of this suite's hooks.
    else if (isConcurrent(suite)) enterCell(files.open(suite.file).cell, true)
    return super.onBeforeRunSuite?.(suite)
  }

  override cancel(reason: unknown): unknown {
    cancelled.add(this)
    return super.cancel?.(reason)
  }

  override onBeforeRunTask(test: RunnerTestCase): unknown {
    enterCell(files.openTest(test).cell, isConcurrent(test))
    return super.onBeforeRunTask?.(test)
  }

  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): unknown {
    const open = files.openTest(test)
    if (!open.hasBegun) {
      open.hasBegun = true
      enterCell(open.attempt, isConcurrent(test))
      return super.onBeforeTryTask?.(test, options)
    }
    const ended = files.beginNextAttempt(test, open)
    enterCell(open.attempt, isConcurrent(test))
    // It is tried again because it has failed.
    return settleAttempt(test, open, ended, { hasFailed: options.retry > 0 }).then(() => super.onBeforeTryTask?.(test, options))
  }

  override onTaskFinished(test: RunnerTestCase): unknown {
    const { scope } = files.openTest(test)
    if (scope.isIdle) return super.onTaskFinished?.(test)
    return scope.capture().then(() => super.onTaskFinished?.(test))
  }

  override onAfterRunSuite(suite: RunnerTestSuite): unknown {
    if (!isFile(suite)) return super.onAfterRunSuite?.(suite)
    return settleFile(this, suite).then(() => super.onAfterRunSuite?.(suite))
  }

  override onAfterRunFiles(ended: RunnerTestFile[]): unknown {
    // Of a file that could not be collected, or of which no test is to run, Vitest tells no other end.
    const left = ended.filter((file) => files.isRunning(file))
    if (left.length === 0) return super.onAfterRunFiles?.(ended)
    return Promise.all(left.map((file) => settleFile(this, file))).then(() => super.onAfterRunFiles?.(ended))
  }
}

export default CustodyRunner

function providedOrThrow(): Provided {
  const found = vitest.inject('@custody/vitest') as Provided | undefined
  if (found !== undefined) return found
  throw new CustodyError(
    'CUSTODY_NOT_SET_UP',
    'Could not run tests under Custody: its runner is set, and its global setup is not.',
    {
      hint: "use custodyPlugin() from '@custody/vitest/plugin', or globalSetup: ['@custody/vitest/global-setup'].",
    },
  )
}

async function settleAttempt(
  test: RunnerTestCase,
  open: OpenTest,
  scope: Scope,
  verdict: RunnersVerdict = { hasFailed: hasFailed(test), said: messagesOf(test) },
): Promise<void> {
  if (!scope.isIdle) open.settlements.push(await scope.settle(verdict))
}

/** Ends a test: what it and its earlier attempts left unproven makes it red. */
async function settleTest(runner: RunnerHooks, test: RunnerTestCase, open: OpenTest): Promise<void> {
  files.close(test, open)
  await open.scope.explain(test.result?.errors ?? [])
  await settleAttempt(test, open, open.scope)
  const receipts = open.settlements.flatMap((settlement) => settlement.receipts)
  leaveReceipts(test, receipts)
  if (provided.isAnnotated) await annotate(runner, test, receipts)
  fail(
    test,
    open.settlements.flatMap(({ failures }) => failures),
  )
}

/** Vitest puts a hook of its own on the instance, which looks at the result for `bail`: we settle before it looks. */
function settleBeforeBail(runner: RunnerHooks): void {
  type AfterRunTask = (test: RunnerTestCase) => unknown
  const original = runner.onAfterRunTask
  const settling =
    (inner: AfterRunTask | undefined): AfterRunTask =>
    (test) => {
      const open = files.open(test.file).tests.get(test)
      if (open === undefined) return inner?.call(runner, test)
      if (!open.scope.isIdle || open.settlements.length > 0) {
        return settleTest(runner, test, open).then(() => {
          // One that is red already is counted at once.
          if (!hasFailed(test)) holders.get(runner)?.hold(test)
          return inner?.call(runner, test)
        })
      }
      files.close(test, open)
      void open.scope.settle({ hasFailed: hasFailed(test) })
      return inner?.call(runner, test)
    }
  let current: AfterRunTask | undefined
  const recounted = new Set<RunnerTestCase>()
  Object.defineProperty(runner, 'onAfterRunTask', {
    configurable: true,
    // Until Vitest has set its own it reads what it is going to call: the original, or ours would call itself.
    get: () => current ?? ((test: RunnerTestCase) => (recounted.has(test) ? undefined : original?.call(runner, test))),
    set: (bound: AfterRunTask) => {
      current = settling(bound)
      recounts.set(runner, async (test) => {
        recounted.add(test)
        await bound.call(runner, test)
      })
    },
  })
}

/** Ends a file: tests that were skipped while they ran, and then what belongs to the file itself. */
async function settleFile(runner: RunnerHooks, file: RunnerTestFile): Promise<void> {
  const { cell, scope, tests } = files.open(file)
  const skipped: CustodyError[] = []
  for (const [test, open] of tests) skipped.push(...(await settleSkipped(test, open, cancelled.has(runner))))
  await scope.explain(file.result?.errors ?? [])
  const settlement = await scope.settle({
    hasFailed: hasFailed(file) || skipped.length > 0,
    isBroken: cancelled.has(runner) || isBroken(file),
    said: messagesOf(file),
    isWhole: isWhole(file),
  })
  const failures = [...skipped, ...settlement.failures]
  leaveReceipts(file, settlement.receipts)
  cell.isOver = true
  const holder = holders.get(runner)
  const reddened = failLate(settlement, failures, holder?.isHooked ?? false)
  if (failures.length > 0) fail(file, failures)
  await holder?.release(file, reddened, async (last) => recounts.get(runner)?.(last))
  if (failures.length > 0) await report(runner, file)
}

/**
 * Makes tests red that have ended. One that was skipped never ran for Vitest: it would be counted twice, so its file says it.
 * @param isHooked whether Vitest can still be told; otherwise the file says it all
 */
function failLate({ late }: Settlement, ofFile: CustodyError[], isHooked: boolean): RunnerTestCase[] {
  const reddened = new Set<RunnerTestCase>()
  for (const { error, of } of late) {
    const test = files.testOf(of)
    if (!isHooked || test === undefined || test.mode !== 'run') ofFile.push(error)
    else {
      fail(test, [error])
      for (let suite = test.suite; suite !== undefined; suite = suite.suite) markFailed(suite)
      markFailed(test.file)
      reddened.add(test)
    }
  }
  return [...reddened]
}

/**
 * A test that skipped itself has no result that could turn red without being counted twice: its file says it. So it is with one that was
 * given up, whose own clean-up Vitest has not let run.
 */
async function settleSkipped(test: RunnerTestCase, open: OpenTest, isCancelled: boolean): Promise<CustodyError[]> {
  files.close(test, open)
  await settleAttempt(test, open, open.scope, { hasFailed: isCancelled || hasFailed(test), isSkipped: true, isCancelled })
  return open.settlements.flatMap(({ failures }) => failures)
}

/** Vitest 3 has sent the file's result by now, and looks at it no more. */
async function report(runner: RunnerHooks, file: RunnerTestFile): Promise<void> {
  await runner.onTaskUpdate?.([[file.id, file.result, file.meta]], [])
}
