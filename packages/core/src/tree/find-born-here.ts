import type { Identity } from '@custody/runtime'
import { ownIdentity } from '@custody/runtime/internals'
import { type ProcessEntry, platform } from '../platform/index.js'
import { isBornIn } from '../provenance/own-processes.js'
import type { Birthmark } from './birthmark.js'
import { ProcessTable } from './process-table.js'

/**
 * All live processes that are shown to be born here, by the union of the evidence: one kind alone misses those that clear their
 * environment, or close their descriptors, or have lost their parent.
 *
 * @param spared those that are never targets, whatever they carry: the test run itself
 * @param table where to look: by default at what there is now
 */
export function findBornHere(mark: Birthmark, spared: readonly Identity[], table: ProcessTable = new ProcessTable()): Identity[] {
  const { since } = mark
  const sparedPids = sparedIn(table, spared)
  const found = new Map<number, ProcessEntry>()
  for (const process of table.processes) {
    const isOlder = since !== undefined && platform.isOlder(process.start, since) === true
    if (!isOlder && !sparedPids.has(process.pid) && isMarked(process, mark, table)) found.set(process.pid, process)
  }
  // Children of what was found, and their children, until there are no more.
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const process of table.processes) {
      if (found.has(process.parent) && !sparedPids.has(process.pid)) found.set(process.pid, process)
    }
  }
  return [...found.values()].map(identityOf)
}

function isMarked({ pid, start }: ProcessEntry, { files, known, namespace }: Birthmark, table: ProcessTable): boolean {
  if (known.some((each) => each.pid === pid && each.start === start)) return true
  if (isBornIn(namespace, table.namespaceOf(pid))) return true
  return files.length > 0 && table.holdsFile(pid, files)
}

/** The spared, this process, and the ancestors of this process. */
function sparedIn({ byPid }: ProcessTable, spared: readonly Identity[]): Set<number> {
  const pids = new Set<number>([0, 1])
  for (let at = byPid.get(ownIdentity().pid); at !== undefined && !pids.has(at.pid); at = byPid.get(at.parent)) pids.add(at.pid)
  for (const { pid, start } of spared) if (byPid.get(pid)?.start === start) pids.add(pid)
  return pids
}

function identityOf({ pid, start }: ProcessEntry): Identity {
  const { boot, pidns, timens } = ownIdentity()
  return { pid, start, boot, pidns, timens }
}
