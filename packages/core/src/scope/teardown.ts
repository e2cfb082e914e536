import { rm } from 'node:fs/promises'
import { sep } from 'node:path'
import { CustodyError, clock, Deadline } from '@custody/runtime/internals'
import { type CapturedLocator, captureGlobs, captureRegistry } from '../locators/capture.js'
import { writeEvents } from '../report/events.js'
import { type Scope, type Settlement, teardownFailed } from './scope.js'
import { applyPolicy, settleLocators } from './settle-locators.js'
import { settleStarted } from './settle-started.js'
import { timeLimits } from './time-limits.js'

/** What a scope held at its capture. */
export interface Captured {
  readonly locators: readonly CapturedLocator[]
  readonly cutShort: readonly string[]
}

/** Reads the scope's part of the registry and what its globs match. */
export function capture(scope: Scope): Captured {
  const { file, kind } = scope
  const { cutShort, locators: found } = captureAll(scope)
  if (file === null) return { locators: [...scope.held, ...found], cutShort }
  if (kind === 'sibling') {
    // All that is registered as its own, and of the globs what lies in its directory: an absolute one is the file's.
    return { locators: found.filter((each) => each.source === 'registry' || isDueWith(scope, each)), cutShort }
  }
  file.held.push(...found.filter((captured) => captured.source === 'glob' && !isDueWith(scope, captured)))
  return { locators: found.filter((captured) => isDueWith(scope, captured)), cutShort }
}

/** Everything of the scope, whoever accounts for it. */
export function captureAll({ id, namespace, run }: Scope): Captured {
  const { cutShort, locators } = captureGlobs(run.options.locators, namespace.isMade ? namespace.dir : null)
  // What runs inside of a started runtime ends with that.
  const registered = captureRegistry(run.directory, id).filter(({ namespace: born }) => !/\.r\d+x?\d*(?:\.|$)/.test(born))
  return { locators: [...registered, ...locators], cutShort }
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
  const [own, started, ...siblings] = await Promise.all([
    settleLocators(scope, captured, () => capture(scope), { begunAt, deadline }),
    settleStarted(scope).catch((fault: unknown) => ({ events: [], failures: [teardownFailed(scope, 'settle', fault)] })),
    ...[...scope.siblings.values()].map((sibling) => sibling.settle({ hasFailed })),
  ])

  const { events, failures } = applyPolicy(own.findings, options)
  for (const glob of own.cutShort) {
    events.push({ type: 'warning', text: `the walk of the glob ${glob} was cut short; narrow it.` })
  }
  events.push(...started.events)
  failures.push(...siblings.flatMap((sibling) => sibling.failures), ...started.failures)
  failures.push(...own.faults.map((fault) => teardownFailed(scope, 'settle', fault)))

  // Something may live on in the directory of a scope that failed to end.
  const isKept = options.keep === 'always' || failures.length > 0 || (options.keep === 'on-failure' && hasFailed)
  if (scope.namespace.isMade && isKept) events.push({ type: 'kept', path: scope.namespace.dir, by: scope.name })
  if (scope.namespace.isMade && !isKept) await remove(scope, failures)
  writeEvents(scope.run.directory, events)
  const receipts = events.flatMap((event) => (event.type === 'receipt' ? [event.receipt] : []))
  return { receipts: [...siblings.flatMap((sibling) => sibling.receipts), ...receipts], failures }
}

async function remove(scope: Scope, failures: CustodyError[]): Promise<void> {
  const path = scope.namespace.dir
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
