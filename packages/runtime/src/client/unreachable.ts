import { CustodyError, type RuntimeErrorCode } from '../errors.js'
import type { Locator } from '../locator/locator.js'

const hints: Partial<Record<RuntimeErrorCode, string>> = {
  CUSTODY_CONNECT_FAILED: 'the runtime may have left; a locator that stays behind is no proof that it runs.',
  CUSTODY_CONNECTION_CLOSED: 'it may be on its way out; ask again, and look at its log.',
  CUSTODY_PROOF_FALSE: 'another process listens there now. Nothing secret was sent to it.',
  CUSTODY_ANSWER_GARBAGE: 'what listens there does not speak this protocol. Nothing secret was sent to it.',
}

/** Why the runtime of a locator could not be spoken with. */
export function unreachable(locator: Locator, code: RuntimeErrorCode, observed: string, cause?: unknown): CustodyError {
  const { endpoint, name, pid } = locator
  return new CustodyError(code, `Could not reach runtime "${name}" at ${endpoint}: ${observed}.`, {
    hint: hints[code] ?? 'look at the process that listens there.',
    facts: { name, endpoint, pid },
    cause,
  })
}
