import type { CapturedLocator } from '../locators/capture.js'
import type { Evidence } from './evidence.js'
import type { Judgement, Verdict } from './judge.js'

/** What Custody holds of one runtime, without having done anything to it. */
export interface Inspection {
  readonly source: 'published'
  readonly verdict: Verdict
  readonly reason: string
  readonly evidence: Evidence
  readonly name: string | null
  readonly pid: number | null
  /** Its path: for an entry of the registry, where the locator itself was published. */
  readonly locator: string
  /** The namespace that the live process stated, or null. */
  readonly namespace: string | null
}

export function inspectionOf({ locator, path }: CapturedLocator, evidence: Evidence, { reason, verdict }: Judgement): Inspection {
  return {
    source: 'published',
    verdict,
    reason,
    evidence,
    name: locator?.name ?? null,
    pid: evidence.identity?.pid ?? null,
    locator: locator?.path ?? path,
    namespace: evidence.namespace,
  }
}
