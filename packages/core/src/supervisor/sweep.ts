import type { Identity } from '@custody/runtime'
import { sinceOf } from '../tree/birthmark.js'
import { type Stopped, stopTree } from '../tree/stop-tree.js'
import { readJournal } from './journal.js'
import type { RunRecord } from './run-record.js'

/**
 * Ends everything that was born in a run whose supervisor has died, by the evidence of the kernel and the journal. It may run several
 * times at once: runner, sentinel and the next run may all find that it is due.
 *
 * @param spared those of the test run that may still live: never targets
 */
export function sweepRun(runDirectory: string, run: RunRecord, spared: readonly Identity[], graceMs: number): Promise<Stopped> {
  const journal = readJournal(runDirectory)
  const mark = {
    namespace: run.id,
    files: journal.flatMap(({ files }) => files),
    ...sinceOf(run.runner),
    known: journal.map(({ identity }) => identity).filter(({ start }) => start !== null),
  }
  return stopTree({ mark, leader: null, spared, stopSignal: 'SIGTERM', graceMs })
}
