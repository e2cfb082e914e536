import { rm } from 'node:fs/promises'
import { isAbsolute, sep } from 'node:path'
import { CustodyError, clock, Deadline, hasDebugger } from '@custody/runtime/internals'
import { type CapturedLocator, captureGlobs, captureRegistry, type GlobCapture } from '../locators/capture.js'
import { isOfRuntime } from '../namespace/namespace-id.js'
import { findMountIn } from '../platform/index.js'
import { type RunEvent, writeEvents } from '../report/events.js'
import { failureEvent } from '../report/failure-event.js'
import type { Scope, Settlement } from './scope.js'
import { settleLeaks } from './settle-leaks.js'
import { applyPolicy, settleLocators } from './settle-locators.js'
import { settleStarted } from './settle-started.js'
import { teardownFailed } from './teardown-failed.js'
import { timeLimits, WITHOUT_LIMITS } from './time-limits.js'

/** What a scope held at its capture. */
export interface Captured {
  readonly locators: readonly CapturedLocator[]
  readonly cutShort: readonly string[]
}

/** Reads the scope's part of the registry and what its globs match. */
export function capture(scope: Scope): Captured {
  const { file, kind } = scope
  const { elsewhere, inside, registered } = lookAround(scope)
  const cutShort = [...inside.cutShort, ...elsewhere.cutShort]
  if (file === null)
    return { locators: [...scope.books.held, ...registered, ...inside.locators, ...elsewhere.locators], cutShort }
  // What an absolute glob finds is nobody's in particular: the file accounts for it, unless it lies in the scope's own directory.
  const own = elsewhere.locators.filter((captured) => isDueWith(scope, captured))
  scope.books.held.push(...elsewhere.locators.filter((captured) => !own.includes(captured)))
  const due = kind === 'sibling' ? registered : registered.filter((captured) => isDueWith(scope, captured))
  return { locators: [...due, ...inside.locators, ...own], cutShort }
}

/** Everything of the scope, whoever accounts for it. */
export function captureAll(scope: Scope): Captured {
  const { elsewhere, inside, registered } = lookAround(scope)
  return {
    locators: [...registered, ...inside.locators, ...elsewhere.locators],
    cutShort: [...inside.cutShort, ...elsewhere.cutShort],
  }
}

function lookAround({ id, namespace, run }: Scope): {
  registered: CapturedLocator[]
  inside: GlobCapture
  elsewhere: GlobCapture
} {
  const globs = run.options.locators
  return {
    // What runs inside of a started runtime ends with that.
    registered: captureRegistry(run.directory, id).filter(({ namespace: born }) => !isOfRuntime(born)),
    inside: captureGlobs(
      globs.filter((glob) => !isAbsolute(glob)),
      namespace.isMade ? namespace.dir : null,
    ),
    elsewhere: captureGlobs(globs.filter(isAbsolute), null),
  }
}

/** A runtime that published outside of its test's own directory may serve the next test as well: its file accounts for it. */
function isDueWith({ namespace }: Scope, { locator, path, source }: CapturedLocator): boolean {
  const published = source === 'registry' ? locator?.path : path
  return namespace.isMade && published?.startsWith(namespace.dir + sep) === true
}

/** All steps of a teardown after the finalizers, within one deadline. */
export async function settle(scope: Scope, captured: Captured | null, hasFailed: boolean): Promise<Settlement> {
  const { options } = scope.run
  const begunAt = clock.now()
  const deadline = Deadline.after(timeLimits(options).teardownMs)
  const [located, started, ...siblings] = await Promise.all([
    settleLocators(scope, captured, () => capture(scope), { begunAt, deadline }),
    settleStarted(scope).catch((fault: unknown) => ({
      ...{ events: [], ended: [], failures: [teardownFailed(scope, 'settle', fault)] },
    })),
    ...[...scope.siblings.values()].map((sibling) => sibling.settle({ hasFailed, said: scope.said })),
  ])

  const { events, failures } = applyPolicy(located.findings, options)
  const inSiblings = siblings.flatMap((sibling) => sibling.failures)
  for (const { receipt } of located.findings) if (receipt.identity !== null) scope.books.noteJudged(receipt.identity)
  const leaks = await settleLeaks(scope).catch((fault: unknown) => ({
    events: [],
    failures: [{ of: scope, error: teardownFailed(scope, 'look for what was left by', fault) }],
  }))
  events.push(...leaks.events)
  failures.push(...leaks.failures.flatMap(({ error, of }) => (of === scope ? error : [])))
  const late = leaks.failures.filter(({ of }) => of !== scope)
  if (hasDebugger()) events.push({ type: 'warning', text: WITHOUT_LIMITS })
  for (const glob of located.cutShort) {
    events.push({ type: 'warning', text: `the walk of the glob ${glob} was cut short; narrow it.` })
  }
  events.push(...started.events)
  failures.push(...started.failures, ...located.faults.map((fault) => teardownFailed(scope, 'settle', fault)))

  // Something may live on in the directory of a scope that failed to end.
  const hasFailures = failures.length + inSiblings.length + scope.faults.length > 0
  const isKept = options.keep === 'always' || hasFailures || (options.keep === 'on-failure' && hasFailed)
  if (scope.namespace.isMade && isKept) events.push({ type: 'kept', path: scope.namespace.dir, by: scope.name })
  if (scope.namespace.isMade && !isKept) await remove(scope, failures, events)
  const all = [...scope.faults, ...failures, ...inSiblings]
  if (hasFailed || all.length > 0) events.push(...logsOf(scope, all))
  const { books, kind } = scope
  // A sibling has told of its own.
  const own = [...scope.faults, ...failures].map((failure) => ({ of: scope, event: failureEvent(failure, scope) }))
  books.failures = [...books.failures, ...own, ...late.map(({ error, of }) => ({ of, event: failureEvent(error, of) }))]
  // Only then it is sure what came of a test that was tried again.
  if (kind === 'file') events.push(...books.failures.map(({ event }) => event))
  try {
    writeEvents(scope.run.directory, events)
  } catch (fault) {
    // Their test says them all the same; only the report does not have them.
    all.push(teardownFailed(scope, 'note what came of', fault))
  }
  await removeLogs(scope, started.ended).catch((fault: unknown) => {
    all.push(teardownFailed(scope, 'remove the logs of', fault))
  })
  const receipts = events.flatMap((event) => (event.type === 'receipt' ? [event.receipt] : []))
  return { receipts: [...siblings.flatMap((sibling) => sibling.receipts), ...receipts], failures: all, late }
}

/** What the runtimes of a failed scope said last, without what one of its errors shows already. */
function logsOf({ name: by, said, uses }: Scope, failures: readonly CustodyError[]): RunEvent[] {
  const told = [...said, ...failures.map(({ message }) => message)].map((message) => `\n${message}\n`)
  return [...uses].flatMap(([instance, { isShown, name, tail }]) => {
    const text = isShown ? tail() : ''
    return text === '' || told.some((message) => message.includes(`\n${text}\n`))
      ? []
      : [{ type: 'log', instance, name, by, tail: text } as const]
  })
}

/** What the runtimes of a scope had said: all that is shown of it was read by now. */
async function removeLogs(scope: Scope, ended: readonly string[]): Promise<void> {
  if (ended.length > 0) await (await scope.lease()).removeLogs(ended)
}

async function remove(scope: Scope, failures: CustodyError[], events: RunEvent[]): Promise<void> {
  const path = scope.namespace.dir
  const mount = findMountIn(path)
  if (mount !== null) {
    events.push({ type: 'kept', path, by: scope.name })
    failures.push(
      new CustodyError(
        'CUSTODY_TEARDOWN_FAILED',
        `Could not remove the namespace's directory ${path}: something is mounted at ${mount}.`,
        {
          hint: 'unmount it in the test. What is in it is not the test’s, so nothing was removed.',
          facts: { path, mount },
        },
      ),
    )
    return
  }
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    failures.push(
      new CustodyError('CUSTODY_TEARDOWN_FAILED', `Could not remove the namespace's directory ${path}: ${code}.`, {
        hint: 'something that this test started may still write there.',
        facts: { path, code },
        cause,
      }),
    )
  }
}
