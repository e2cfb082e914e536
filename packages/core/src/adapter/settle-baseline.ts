import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Baseline, findFixed, updated } from '../leaks/baseline.js'
import type { RunEvent } from '../report/events.js'
import { counted, grouped } from '../report/words.js'
import { BASELINE_FILE, readBaseline, writeBaseline } from './baseline-file.js'

/**
 * Compares the baseline with what was found, and writes it anew where that is wanted.
 * @param isPartial whether the run left out tests of the suite: then nothing is taken from the list
 * @returns a line for people, or null when there is nothing to say
 */
export function settleBaseline(
  baseline: Baseline,
  events: readonly RunEvent[],
  { isPartial, root }: { readonly isPartial: boolean; readonly root: string },
): string | null {
  const found = events.flatMap((event) => (event.type === 'leak' && !event.isRed ? event.signature : []))
  const judged = events.flatMap((event) => (event.type === 'judged' ? event : []))
  const missing = findFixed(baseline, found, judged, (file) => existsSync(join(root, file)))
  if (!baseline.isUpdated) {
    if (missing.length === 0) return null
    const what = `custody  baseline: ${grouped(missing.length)} of ${counted(baseline.leaks.length, 'known leak')} not found any more`
    return `${what}; CUSTODY_BASELINE=update with all tests takes them from ${BASELINE_FILE}`
  }
  const removed = isPartial ? [] : missing
  // Another run may have written it meanwhile.
  const leaks = updated(readBaseline(root)?.leaks ?? baseline.leaks, found, removed)
  writeBaseline(root, leaks)
  const added = leaks.length - baseline.leaks.length + removed.length
  const changes = [
    ...(added > 0 ? [`${grouped(added)} new`] : []),
    ...(removed.length > 0 ? [`${grouped(removed.length)} taken out`] : []),
    ...(isPartial && missing.length > 0 ? ['none taken out, as this run has left out tests'] : []),
  ]
  return [`custody  wrote ${BASELINE_FILE}: ${counted(leaks.length, 'known leak')}`, ...changes].join(', ')
}
