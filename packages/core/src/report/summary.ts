import type { RunEvent } from './events.js'
import { counted, grouped } from './words.js'

/** The counts of a run. */
export interface Summary {
  readonly runtimes: number
  /** Of these, those that `custody.start` and `custody.shared` have started. */
  readonly started: number
  readonly owned: number
  readonly foreign: number
  readonly unproven: number
  readonly unreachable: number
  readonly gone: number
  readonly invalid: number
  readonly retired: number
  readonly exitsObserved: number
  readonly forced: number
  /** Processes that tests have left. */
  readonly leaked: number
  /** How surely it was known what was born of what: 0 to 2. Null when nothing was started. */
  readonly level: 0 | 1 | 2 | null
}

export function summarize(events: readonly RunEvent[]): Summary {
  const receipts = events.flatMap((event) => (event.type === 'receipt' ? [event.receipt] : []))
  const count = (verdict: string) => receipts.filter((receipt) => receipt.verdict === verdict).length
  const exited = receipts.filter(({ exit }) => exit !== 'not observed')
  return {
    runtimes: receipts.length,
    started: receipts.filter(({ evidence }) => evidence === null).length,
    owned: count('owned'),
    foreign: count('foreign'),
    unproven: count('unproven'),
    unreachable: count('unreachable'),
    gone: count('gone'),
    invalid: count('invalid'),
    retired: exited.filter(({ verdict }) => verdict === 'owned').length,
    exitsObserved: exited.length,
    forced: receipts.filter(({ forced }) => forced).length,
    leaked: events.filter(({ type }) => type === 'leak').length,
    level: events.findLast((event) => event.type === 'level')?.level ?? null,
  }
}

/** What to print at the end of a run: nothing when nothing was started, one line when all is well. */
export function formatSummary(events: readonly RunEvent[]): string {
  const summary = summarize(events)
  const texts = new Set(events.flatMap((event) => (event.type === 'warning' ? event.text : [])))
  const warnings = [...texts].map((text) => `custody  warning: ${text}`)
  const kept = events.flatMap((event) => (event.type === 'kept' ? [`custody  kept ${event.path}  (${event.by})`] : []))
  const leaks = events.filter((event) => event.type === 'leak')
  const isTold = (pid: number) => leaks.some((leak) => leak.pid === pid)
  const known = leaks.filter(({ isKnown }) => isKnown).length
  const swept = events.flatMap((event) =>
    event.type === 'swept' && !isTold(event.pid)
      ? [`custody  ended with the run: pid ${event.pid}  ${event.command.join(' ')}`]
      : [],
  )
  const allowed = events.flatMap((event) =>
    event.type === 'allowed' ? [`custody  allowed: pid ${event.pid}  ${event.command.join(' ')}  (${event.reason})`] : [],
  )
  const parts = [
    ...(summary.runtimes > 0 ? countsOfRuntimes(summary) : []),
    ...(summary.forced > 0 ? [`${grouped(summary.forced)} forced`] : []),
    ...(['foreign', 'unproven', 'unreachable', 'gone', 'invalid'] as const)
      .filter((verdict) => summary[verdict] > 0)
      .map((verdict) => `${grouped(summary[verdict])} ${verdict}`),
    ...(summary.leaked > 0 ? [`${grouped(summary.leaked)} leaked${known > 0 ? ` (${grouped(known)} known)` : ''}`] : []),
    ...(summary.level === null ? [] : [`level ${summary.level}`]),
  ]
  const foreign = events.flatMap((event) =>
    event.type === 'receipt' && event.receipt.verdict === 'foreign'
      ? [`custody  left alone: "${event.receipt.name}" by ${event.receipt.evidence?.path}: ${event.receipt.reason}`]
      : [],
  )
  const counts = summary.runtimes + summary.leaked > 0 ? [`custody  ${parts.join(', ')}`] : []
  return [...logsOf(events), ...counts, ...foreign, ...allowed, ...swept, ...warnings, ...kept].join('\n')
}

function countsOfRuntimes({ exitsObserved, owned, retired, runtimes }: Summary): string[] {
  const exits = `${counted(exitsObserved, 'exit')} observed`
  return [counted(runtimes, 'runtime'), `${grouped(owned)} owned`, `${grouped(retired)} retired`, exits]
}

/** The last lines of the runtimes that failed tests used; of one that several used as it was at last. */
function logsOf(events: readonly RunEvent[]): string[] {
  const logs = new Map(events.flatMap((event) => (event.type === 'log' ? [[event.instance, event] as const] : [])))
  return [...logs.values()].map(({ by, name, tail }) => {
    const lines = tail.split('\n').map((line) => `    ${line}`)
    return [`custody  last lines of "${name}"  (${by})`, ...lines].join('\n')
  })
}
