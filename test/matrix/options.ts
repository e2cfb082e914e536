import type { CustodyOptions } from '@custody/core'
import type { Row } from './row.js'

/** Whether nobody proves anything in a row: Custody looks then for as long as a proof may take, or twice as long. */
export function isWaitedFor({ expected }: Row): boolean {
  return expected.some(({ evidence: { answer } }) => answer !== 'authentic' && answer !== null)
}

/** For rows in which somebody is waited for in vain, it is enough for an answer on a busy machine. For all others nobody waits for it. */
export function optionsOf(rows: readonly Row[]): CustodyOptions {
  const proofMs = rows.some(isWaitedFor) ? 2_000 : 20_000
  return { locators: ['place/*.json'], timeouts: { proofMs, graceMs: 20_000, teardownMs: 60_000 } }
}
