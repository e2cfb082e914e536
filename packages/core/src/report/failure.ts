import { CustodyError } from '@custody/runtime/internals'
import type { SpawnSite } from '../namespace/birth-state.js'
import type { ResolvedOptions } from '../options/options.js'
import type { Evidence } from '../provenance/evidence.js'
import type { Judgement } from '../provenance/judge.js'
import type { RetireOutcome } from '../retire/retire.js'
import { leadTo } from './stack-of-site.js'
import { grouped } from './words.js'

/** What was found about one runtime, and how its retirement ended if it was owned. */
export interface Finding {
  readonly name: string | null
  readonly evidence: Evidence
  readonly judgement: Judgement
  readonly outcome: RetireOutcome | null
  /** Where it was published. */
  readonly locator: string
  /** Who started it, and where. */
  readonly starter: { readonly name: string; readonly sites: readonly SpawnSite[] }
}

/** The error that a finding is to its scope, or null when all is well. */
export function failureOf(finding: Finding, options: ResolvedOptions): CustodyError | null {
  const { evidence, judgement, outcome } = finding
  switch (judgement.verdict) {
    case 'foreign':
    case 'gone':
      return null
    case 'invalid':
      // One of ours that cannot be read cannot be accounted for. What a glob finds may be anybody's.
      return evidence.source === 'registry'
        ? fail(finding, 'CUSTODY_REGISTRY_UNREADABLE', 'verify', judgement.reason, hints.invalid)
        : null
    case 'unproven':
      return options.unproven === 'ignore'
        ? null
        : fail(finding, 'CUSTODY_RUNTIME_UNPROVEN', 'retire', judgement.reason, hints.unproven)
    case 'unreachable':
      return fail(finding, 'CUSTODY_RUNTIME_UNREACHABLE', 'retire', judgement.reason, hints.unreachable)
    case 'owned':
      return failureOfOutcome(finding, outcome, options)
  }
}

function failureOfOutcome(finding: Finding, outcome: RetireOutcome | null, options: ResolvedOptions): CustodyError | null {
  switch (outcome?.end) {
    case 'exited':
      return options.published === 'fail'
        ? fail(finding, 'CUSTODY_RUNTIME_LEFT', 'accept', 'it was left running', hints.left)
        : null
    case 'refused':
      if (options.unproven === 'ignore') return null
      return fail(
        finding,
        'CUSTODY_RUNTIME_UNPROVEN',
        'retire',
        `it refused the shutdown, because ${outcome.reason}`,
        hints.unproven,
      )
    case 'unanswered':
      return fail(
        finding,
        'CUSTODY_SHUTDOWN_UNANSWERED',
        'retire',
        `it did not answer the shutdown within ${grouped(outcome.afterMs)} ms`,
        hints.hung(outcome.limit),
      )
    case 'still alive':
      return fail(
        finding,
        'CUSTODY_EXIT_NOT_OBSERVED',
        'retire',
        `it accepted the shutdown and is still alive after ${grouped(outcome.afterMs)} ms`,
        hints.hung(outcome.limit),
      )
    case 'exit unobservable':
      return fail(
        finding,
        'CUSTODY_EXIT_UNOBSERVABLE',
        'retire',
        'it accepted the shutdown, but its process cannot be seen from here',
        hints.unobservable,
      )
    case undefined:
      return null
  }
}

const hints = {
  invalid: 'do not write to the registry of a run, nor change modes below it.',
  unproven: 'start it with the environment of the test, so that it knows its namespace. By this locator it is left alone.',
  unreachable: 'see why it does not answer (its log, its event loop). What was born here ends with the run.',
  hung: (limit: string) => `see what holds its drain, or raise timeouts.${limit}. What was born here ends with the run.`,
  unobservable: 'start it in the same pid and time namespace as the tests.',
  left: "stop it in the test, or allow it with published: 'retire'.",
} as const

function fail(finding: Finding, code: string, verb: string, observed: string, hint: string): CustodyError {
  const { evidence, judgement, locator, name, starter } = finding
  const { identity } = evidence
  const who = identity === null ? '' : ` (pid ${identity.pid})`
  const place = `  started by ${starter.name}\n  locator ${locator}`
  const error = new CustodyError(code, `Could not ${verb} runtime "${name ?? 'unknown'}"${who}: ${observed}.\n${place}`, {
    hint,
    facts: {
      name,
      pid: identity?.pid ?? null,
      locator,
      verdict: judgement.verdict,
      scope: evidence.scope,
      startedBy: starter.name,
    },
  })
  leadTo(starter.sites[0], error)
  return error
}
