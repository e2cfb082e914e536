import type { Identity } from '@custody/runtime'
import { ownIdentity } from '@custody/runtime/internals'
import { type ProcessEntry, platform } from '../platform/index.js'
import { readBorn } from '../provenance/own-processes.js'
import type { Birthmark } from './birthmark.js'

/** More listings in one look show no more: only a machine that starts processes without a pause needs as many. */
const MAX_LISTINGS = 100

/**
 * All live processes that are shown to be born here, by the union of the evidence: one kind alone misses those that clear their
 * environment, or close their descriptors, or have lost their parent. To read all of them takes longer than some live that are
 * replaced at once by a child: it lists again, and reads who is new, until nobody is.
 *
 * @param spared those that are never targets, whatever they carry: the test run itself
 * @param onFound told of each as soon as it is found
 */
export function findBornHere(
  mark: Birthmark,
  spared: readonly Identity[],
  onFound: (identity: Identity) => void = () => {},
): Identity[] {
  const { since } = mark
  const listed = new Set<number>()
  const table = platform.listProcesses(listed)
  const sparedPids = sparedIn(table, spared)
  const found = new Map<number, Identity>()
  const add = (process: ProcessEntry) => {
    if (found.has(process.pid) || sparedPids.has(process.pid)) return
    found.set(process.pid, identityOf(process))
    onFound(identityOf(process))
  }
  for (let fresh = table, listings = 1; ; listings++) {
    for (const process of fresh) {
      const isOlder = since !== undefined && platform.isOlder(process.start, since) === true
      if (!isOlder && isMarked(process, mark)) add(process)
    }
    // Children of what was found, and their children, until there are no more.
    for (let size = -1; size !== found.size; ) {
      size = found.size
      for (const process of table) if (found.has(process.parent)) add(process)
    }
    const { size } = listed
    fresh = platform.listProcesses(listed)
    table.push(...fresh)
    if (listed.size === size || listings === MAX_LISTINGS) return [...found.values()]
  }
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
