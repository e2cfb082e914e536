import type { Evidence } from './evidence.js'

/** What Custody holds of a locator's runtime, by the evidence. */
export type Verdict = 'owned' | 'foreign' | 'unproven' | 'unreachable' | 'gone' | 'invalid'

export interface Judgement {
  readonly verdict: Verdict
  /** For people, in half a sentence. */
  readonly reason: string
}

/**
 * The decision table of docs/how-it-works.md: the first rule that matches decides. Nothing here reads, asks or waits.
 * `owned` takes the live process itself: no file, no pid and no token is enough.
 */
export function judge(evidence: Evidence): Judgement {
  const { answer, frozenPath, namespace, path, recorded, unreadable } = evidence

  if (unreadable !== null) return { verdict: 'invalid', reason: unreadable }
  if (evidence.role !== null) return { verdict: 'foreign', reason: `it is ${evidence.role}: it runs inside the test run` }
  if (evidence.isOlderThanRun) return { verdict: 'foreign', reason: 'it was there before this run' }

  if (answer === 'authentic') {
    if (evidence.statement === 'another instance') return { verdict: 'unproven', reason: 'it says that it is another instance' }
    if (evidence.statement !== 'complete') return { verdict: 'unproven', reason: 'what it says of itself is incomplete' }
    if (namespace === null) return judgeWithoutNamespace(evidence)
    if (!evidence.isInScope) return { verdict: 'foreign', reason: `it belongs to the namespace ${namespace}` }
    if (!evidence.isPathEqual) return { verdict: 'foreign', reason: `it published ${frozenPath}, and this is ${path}` }
    return { verdict: 'owned', reason: 'it was born in this namespace and published this locator' }
  }

  if (recorded === 'gone') return { verdict: 'gone', reason: 'its process has ended' }
  if (recorded === 'other boot') return { verdict: 'gone', reason: 'it ran before the last boot of this machine' }
  const aliveness = recorded === 'alive' ? 'its process is alive' : 'whether its process is alive cannot be seen from here'
  if (answer === 'false' || answer === 'garbage') {
    return { verdict: 'unproven', reason: `what listens there does not know its token, and ${aliveness}` }
  }
  const silence = answer === 'closed' ? 'it closes every connection' : 'nobody answers there'
  return { verdict: 'unreachable', reason: `${silence}, and ${aliveness}` }
}

/** An authentic runtime that knows of no namespace: its environment was cleared, or it was started outside. */
function judgeWithoutNamespace({ born, frozenPath, isPathEqual, path }: Evidence): Judgement {
  if (!isPathEqual) return { verdict: 'foreign', reason: `it published ${frozenPath}, and this is ${path}` }
  if (born === 'environment')
    return { verdict: 'owned', reason: 'it published this locator, and the kernel shows that it was born in this namespace' }
  return { verdict: 'unproven', reason: "it was started without the namespace's environment" }
}
