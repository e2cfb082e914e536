import { unlinkSync } from 'node:fs'
import type { CustodyError } from '@custody/runtime'
import { clock, type Deadline } from '@custody/runtime/internals'
import type { CapturedLocator } from '../locators/capture.js'
import type { ResolvedOptions } from '../options/options.js'
import type { Evidence } from '../provenance/evidence.js'
import { judge } from '../provenance/judge.js'
import { type Copies, prove } from '../provenance/prove.js'
import type { RunEvent } from '../report/events.js'
import { failureOf } from '../report/failure.js'
import type { Starter } from '../report/starter.js'
import type { Receipt } from '../retire/receipt.js'
import { type RetireOutcome, retire } from '../retire/retire.js'
import type { Step, StepName } from '../retire/steps.js'
import { proofContextOf } from './proof-context.js'
import type { RunHandle } from './run-handle.js'
import type { Captured } from './teardown.js'
import { timeLimits } from './time-limits.js'

/** What one runtime came to. */
export interface Settled {
  readonly instance: string | null
  readonly evidence: Evidence
  readonly receipt: Receipt
  readonly failure: CustodyError | null
}

/** Who settles: a scope of a worker, or the run itself. */
export interface Settler {
  readonly id: string
  /** The test that started what was born in a namespace, or the settler itself. */
  starterOf(namespace: string | null): Starter
  readonly run: RunHandle
  /** What has a receipt already: see `accountFor`. */
  readonly accounted: Set<string>
}

/** After this many looks for what was published meanwhile, the rest is for the scope above. */
const MAX_LOOKS = 5

/** Verifies, judges and retires what was captured, all at once; then looks again for what came later. */
export async function settleLocators(
  settler: Settler,
  captured: Captured | null,
  look: () => Captured,
  time: { begunAt: number; deadline: Deadline },
): Promise<{ findings: Settled[]; cutShort: string[]; faults: unknown[] }> {
  const findings: Settled[] = []
  const faults: unknown[] = []
  const cutShort = new Set<string>()
  const seen = new Set<string>()
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const next = looks === 0 && captured !== null ? captured : lookOr(look, faults)
    for (const glob of next.cutShort) cutShort.add(glob)
    const fresh = groupCopies(next.locators).filter(([key, [first]]) => {
      const isKnown = seen.has(key) || isAccountedFor(first, settler.accounted)
      seen.add(key)
      return !isKnown
    })
    if (looks > 0 && (fresh.length === 0 || time.deadline.hasPassed)) break
    // What goes wrong with one must not cost what is known of the others.
    const settled = await Promise.allSettled(fresh.map(([, copies]) => settleOne(settler, copies, time)))
    for (const each of settled) {
      if (each.status === 'fulfilled') findings.push(each.value)
      else faults.push(each.reason)
    }
  }
  for (const { receipt, instance } of findings) accountFor(receipt, instance, settler.accounted)
  return { findings, cutShort: [...cutShort], faults }
}

function lookOr(look: () => Captured, faults: unknown[]): Captured {
  try {
    return look()
  } catch (fault) {
    faults.push(fault)
    return { locators: [], cutShort: [] }
  }
}

/**
 * Remembers what has a receipt, so that the scopes above do not report it again. Who was owned is accounted for wherever it shows; any
 * other verdict is about this one file: the runtime behind a borrowed locator has yet to be retired by its owner.
 */
export function accountFor({ verdict, evidence }: Receipt, instance: string | null, accounted: Set<string>): void {
  accounted.add(verdict === 'owned' && instance !== null ? instance : keyOf(evidence?.path ?? '', instance))
}

function isAccountedFor({ locator, path }: CapturedLocator, accounted: ReadonlySet<string>): boolean {
  const instance = locator?.instance ?? null
  return (instance !== null && accounted.has(instance)) || accounted.has(keyOf(path, instance))
}

function keyOf(path: string, instance: string | null): string {
  return `${instance ?? ''} ${path}`
}

/** Copies of one publication have the same content to the letter: a forged one must not speak for the true one. */
export function groupCopies(locators: readonly CapturedLocator[]): [key: string, copies: Copies][] {
  const groups = new Map<string, [CapturedLocator, ...CapturedLocator[]]>()
  for (const captured of locators) {
    const { path: _, ...content } = captured.locator ?? { path: '' }
    const key = captured.locator === null ? `path ${captured.path}` : JSON.stringify(content)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [captured])
    else group.push(captured)
  }
  return [...groups]
}

/** Proves, judges and, if it is owned, retires one runtime. */
export async function settleOne(
  settler: Settler,
  copies: Copies,
  time: { begunAt: number; deadline: Deadline },
): Promise<Settled> {
  const { options } = settler.run
  const steps: Step[] = []
  const note = (step: StepName) => void steps.push({ step, atMs: Math.round(clock.now() - time.begunAt) })
  const name = copies[0].locator?.name ?? null
  const instance = copies[0].locator?.instance ?? null
  note('captured')
  const { graceMs } = timeLimits(options)
  const starter = settler.starterOf(copies[0].locator?.namespace ?? null)
  const { evidence, peer, session } = await prove(copies, proofContextOf(settler.run, settler.id), time.deadline)
  const judgement = judge(evidence)
  let outcome: RetireOutcome | null = null
  if (session !== null) note('proven')
  try {
    if (judgement.verdict === 'owned' && session !== null && instance !== null) {
      const runtime = { verdict: 'owned', reason: judgement.reason, name: name ?? '', instance, evidence, session, peer } as const
      outcome = await retire(runtime, { graceMs, deadline: time.deadline }, note)
    }
  } finally {
    session?.close()
    peer?.release()
  }

  const hasExited = outcome?.end === 'exited' || judgement.verdict === 'gone'
  // Its entry is accounted for; what it left in the user's own place stays.
  if (hasExited) for (const { path, source } of copies) if (source === 'registry') removeEntry(path)
  const receipt: Receipt = {
    version: 1,
    name,
    identity: evidence.identity,
    scope: settler.id,
    ...(starter.kind === 'test' || starter.kind === 'sibling' ? { test: starter.name } : {}),
    verdict: judgement.verdict,
    reason: judgement.reason,
    evidence,
    steps,
    signals: [],
    forced: false,
    exit: hasExited ? 'observed' : 'not observed',
    left: outcome !== null && !hasExited && evidence.identity !== null ? [evidence.identity] : [],
  }
  const locator = copies[0].locator?.path ?? evidence.path
  const failure = failureOf({ name, evidence, judgement, outcome, locator, starter }, options)
  return { instance, evidence, receipt, failure }
}

function removeEntry(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** What findings come to: their receipts, and by the user's policy a warning or a failure. */
export function applyPolicy(
  findings: readonly Settled[],
  options: ResolvedOptions,
): { events: RunEvent[]; failures: CustodyError[] } {
  const events: RunEvent[] = findings.map(({ instance, receipt }) => ({ type: 'receipt', receipt, instance }))
  const failures: CustodyError[] = []
  for (const { failure } of findings) {
    if (failure?.code === 'CUSTODY_RUNTIME_UNPROVEN' && options.unproven === 'warn') {
      events.push({ type: 'warning', text: failure.message })
    } else if (failure !== null) failures.push(failure)
  }
  return { events, failures }
}
