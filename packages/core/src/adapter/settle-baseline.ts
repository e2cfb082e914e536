import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Baseline, findFixed, type LeakSignature, updated } from '../leaks/baseline.js'
import type { RunEvent } from '../report/events.js'
import { counted, grouped } from '../report/words.js'
import { BASELINE_FILE, writeBaseline } from './baseline-file.js'

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
  const found: LeakSignature[] = events.flatMap((event) => (event.type === 'leak' && !event.isRed ? event.signature : []))
  const judged = events.flatMap((event) => (event.type === 'judged' ? event : []))
  const fixed = findFixed(baseline, found, judged, (file) => existsSync(join(root, file)))
  if (baseline.isUpdated) {
    const leaks = updated(baseline.leaks, found, isPartial ? [] : fixed)
    writeBaseline(root, leaks)
    return `custody  wrote ${BASELINE_FILE}: ${counted(leaks.length, 'known leak')}`
  }
  if (fixed.length === 0) return null
  const what = `custody  baseline: ${grouped(fixed.length)} of ${counted(baseline.leaks.length, 'known leak')} fixed`
  return `${what}; CUSTODY_BASELINE=update with all tests takes them from ${BASELINE_FILE}`
}
