import { CustodyError, clock, Deadline, hasCode } from '@custody/runtime/internals'
import { type CapturedLocator, captureFile } from '../locators/capture.js'
import { type Inspection, inspectionOf } from '../provenance/inspection.js'
import { judge } from '../provenance/judge.js'
import { type Copies, prove } from '../provenance/prove.js'
import { writeEvents } from '../report/events.js'
import type { Receipt } from '../retire/receipt.js'
import { proofContextOf } from './proof-context.js'
import type { Scope } from './scope.js'
import { accountFor, groupCopies, settleOne } from './settle-locators.js'
import { captureAll } from './teardown.js'
import { timeLimits } from './time-limits.js'

/** The error of `retire` for a runtime that belongs to somebody else. */
export class NotOwnedError extends CustodyError<'CUSTODY_NOT_OWNED'> {
  readonly inspection: Inspection

  constructor(inspection: Inspection) {
    const { locator, name, reason, verdict } = inspection
    super(
      'CUSTODY_NOT_OWNED',
      `Could not retire runtime "${name ?? 'unknown'}" by ${locator}: it is ${verdict}, because ${reason}.`,
      {
        hint: 'retire it from the namespace that it belongs to, by its own locator. It goes on untouched.',
        facts: { name, locator, verdict, reason },
      },
    )
    this.inspection = inspection
  }
}

/** Judges one locator of the scope, without any effect. */
export async function inspect(scope: Scope, path: string): Promise<Inspection> {
  return inspectCopies(scope, [captureOrThrow(path)])
}

/** Judges everything that the scope has published now. */
export async function inspectAll(scope: Scope): Promise<Inspection[]> {
  const groups = groupCopies(captureAll(scope).locators)
  return Promise.all(groups.map(([, copies]) => inspectCopies(scope, copies)))
}

/** Retires one runtime of the scope before the scope ends. */
export async function retireNow(scope: Scope, path: string): Promise<Receipt> {
  const captured = captureOrThrow(path)
  const time = { begunAt: clock.now(), deadline: Deadline.after(timeLimits(scope.run.options).teardownMs) }
  const { evidence, failure, instance, receipt } = await settleOne(scope, [captured], time)
  if (receipt.verdict !== 'owned') throw new NotOwnedError(inspectionOf(captured, evidence, receipt))
  // One that is still alive stays the scope's to account for, whatever the test makes of the error.
  if (receipt.exit !== 'not observed') accountFor(receipt, instance, scope.accounted)
  writeEvents(scope.run.directory, [{ type: 'receipt', receipt, instance }])
  // Having retired it is what the caller asked for.
  if (failure !== null && !hasCode(failure, 'CUSTODY_RUNTIME_LEFT')) throw failure
  return receipt
}

async function inspectCopies(scope: Scope, copies: Copies): Promise<Inspection> {
  const { teardownMs } = timeLimits(scope.run.options)
  const { evidence, peer, session } = await prove(copies, proofContextOf(scope.run, scope.id), Deadline.after(teardownMs))
  session?.close()
  peer?.release()
  return inspectionOf(copies[0], evidence, judge(evidence))
}

function captureOrThrow(path: string): CapturedLocator {
  const captured = captureFile(path, 'glob')
  if (captured !== null) return captured
  throw new CustodyError('CUSTODY_LOCATOR_MISSING', `Could not inspect the locator ${path}: there is no such file.`, {
    hint: 'check the path, and whether the runtime has published its locator or has left already.',
    facts: { path },
  })
}
