import type { Identity } from '@custody/runtime'
import { ownIdentity } from '@custody/runtime/internals'
import { membersOf, type ProcessEntry, platform } from '../platform/index.js'
import { readBorn } from '../provenance/own-processes.js'
import type { Birthmark } from './birthmark.js'

/**
 * All live processes that are shown to be born here, by the union of the evidence: one kind alone misses those that clear their
 * environment, or close their descriptors, or have lost their parent.
 *
 * @param spared those that are never targets, whatever they carry: the test run itself
 */
export function findBornHere(mark: Birthmark, spared: readonly Identity[]): Identity[] {
  return lookAround(mark, spared).found
}

/** What a look around came to. */
export interface Look {
  readonly found: Identity[]
  /** The numbers of those who are older than anything that was born here: a second look, a moment later, need not be at them. */
  readonly strangers: ReadonlySet<number>
}

/** @param strangers those of a look before: whoever has such a number is taken for the same still */
export function lookAround(mark: Birthmark, spared: readonly Identity[], strangers: ReadonlySet<number> = new Set()): Look {
  const { group, since } = mark
  const table = platform.listProcesses(strangers)
  const sparedPids = sparedIn(table, spared)
  const seen = new Set([...(group === undefined ? [] : membersOf(group)), ...(mark.orphans?.() ?? [])])
  const found = new Map<number, ProcessEntry>()
  const older = new Set(strangers)
  for (const process of table) {
    if (since !== undefined && platform.isOlder(process.start, since) === true) older.add(process.pid)
    if (older.has(process.pid) || sparedPids.has(process.pid)) continue
    if (seen.has(process.pid) || isMarked(process, mark)) found.set(process.pid, process)
  }
  // Children of what was found, and their children, until there are no more.
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const process of table) {
      if (found.has(process.parent) && !sparedPids.has(process.pid)) found.set(process.pid, process)
    }
  }
  return { found: [...found.values()].map(identityOf), strangers: older }
}

function isMarked(process: ProcessEntry, { files, known, namespace }: Birthmark): boolean {
  if (known.some(({ pid, start }) => pid === process.pid && start === process.start)) return true
  if (readBorn(process.pid, namespace) === 'environment') return true
  return files.length > 0 && platform.holdsFile(process.pid, files)
}

/** The spared, this process, and the ancestors of this process. */
function sparedIn(table: readonly ProcessEntry[], spared: readonly Identity[]): Set<number> {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]))
  const pids = new Set<number>([0, 1])
  for (let at = byPid.get(ownIdentity().pid); at !== undefined && !pids.has(at.pid); at = byPid.get(at.parent)) pids.add(at.pid)
  for (const { pid, start } of spared) if (byPid.get(pid)?.start === start) pids.add(pid)
  return pids
}

function identityOf({ pid, start }: ProcessEntry): Identity {
  const { boot, pidns, timens } = ownIdentity()
  return { pid, start, boot, pidns, timens }
}
