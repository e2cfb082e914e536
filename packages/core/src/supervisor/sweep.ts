import type { Identity } from '@custody/runtime'
import { isSameIdentity } from '@custody/runtime/internals'
import { groupOfRun, isGroupOf, removeGroups } from '../platform/index.js'
import { type Birthmark, sinceOf } from '../tree/birthmark.js'
import { findBornHere } from '../tree/find-born-here.js'
import { type Stopped, stopTree } from '../tree/stop-tree.js'
import { exemptAmong, exemptScopes, readExemptions } from './exemptions.js'
import { readJournal } from './journal.js'
import { isStillLogOf } from './log-paths.js'
import type { RunRecord } from './run-record.js'

/**
 * What is alive of a run whose supervisor has died, by the evidence of the kernel and the journal; without the helpers that tools leave
 * for themselves.
 *
 * @param spared those of the test run that may still live: never targets
 */
export function findLeft(runDirectory: string, run: RunRecord, spared: readonly Identity[]): Identity[] {
  return findBornHere(markOf(runDirectory, run, spared), spared)
}

/** Ends it. It may run several times at once: runner, sentinel and the next run may all find that it is due. */
export async function sweepRun(
  runDirectory: string,
  run: RunRecord,
  spared: readonly Identity[],
  graceMs: number,
): Promise<Stopped> {
  const mark = markOf(runDirectory, run, spared)
  const stopped = await stopTree({ mark, leader: null, spared, stopSignal: 'SIGTERM', graceMs })
  dropGroups(run)
  return stopped
}

/** Removes the control groups of a run, as far as nobody is left in them. */
export function dropGroups(run: RunRecord): void {
  const group = groupOf(run)
  if (group !== null) removeGroups(group)
}

/** Its control group: as its supervisor has written it down, or as it would be beside this process. */
function groupOf({ group, id }: RunRecord): string | null {
  return group !== null && isGroupOf(group, id) ? group : groupOfRun(id)
}

/** What shows that something is left of a run: without what goes on. */
function markOf(runDirectory: string, run: RunRecord, spared: readonly Identity[]): Birthmark {
  const journal = readJournal(runDirectory)
  const exemptions = readExemptions(runDirectory)
  const known = journal.map(({ identity }) => identity).filter(({ start }) => start !== null)
  const group = groupOf(run)
  const files = journal.flatMap(({ files, id }) => files.filter((file) => isStillLogOf(id, file, runDirectory)))
  const mark: Birthmark = {
    // Where nothing is looked for, only what was started as a runtime is ended.
    ...{ namespace: run.isSwept ? run.id : null, files, known, ...sinceOf(run.runner) },
    ...{ except: exemptScopes(exemptions), ...(group !== null && { group }) },
  }
  // One that was started as a runtime is no helper.
  const others = findBornHere(mark, spared).filter((found) => !known.some((own) => isSameIdentity(own, found)))
  return { ...mark, except: [...exemptScopes(exemptions), exemptAmong(others, run, exemptions)] }
}
