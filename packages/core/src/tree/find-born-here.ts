import type { Identity } from '@custody/runtime'
import { ownIdentity, seeStart } from '@custody/runtime/internals'
import { membersOf, type ProcessEntry, platform } from '../platform/index.js'
import { isBornIn } from '../provenance/own-processes.js'
import type { SignalProof } from '../witness/witness.js'
import type { Birthmark } from './birthmark.js'
import { ProcessTable } from './process-table.js'

/** More listings in one search show no more: only a machine that starts processes without a pause needs as many. */
const MAX_LISTINGS = 100

export interface Search {
  /** Where to look. @default what there is now */
  readonly table?: ProcessTable
  /** Told of each as soon as it is found, and by what. */
  readonly onFound?: (identity: Identity, proof: SignalProof) => void
  /** Told of each that was found, and turned out to be spared or exempt when more was listed. */
  readonly onLost?: (identity: Identity) => void
}

/**
 * All live processes that are shown to be born here, by the union of the evidence: one kind alone misses those that clear their
 * environment, or close their descriptors, or have lost their parent. To read all of them takes longer than some live that are
 * replaced at once by a child: it lists again, and reads who is new, until nobody is.
 *
 * @param spared those that are never targets, whatever they carry: the test run itself
 */
export function findBornHere(
  mark: Birthmark,
  spared: readonly Identity[],
  { onFound = () => {}, onLost = () => {}, table = new ProcessTable() }: Search = {},
): Identity[] {
  const { processes } = table
  let sparedPids = sparedIn(table, spared)
  const found = new Map<number, Identity>()
  const exempt = new Set<number>()
  const add = (process: ProcessEntry, proof: SignalProof) => {
    if (found.has(process.pid) || sparedPids.has(process.pid) || exempt.has(process.pid)) return
    found.set(process.pid, identityOf(process))
    onFound(identityOf(process), proof)
  }
  for (let from = 0, listings = 1; ; listings++) {
    const fresh = processes.slice(from)
    from = processes.length
    if (listings > 1) sparedPids = sparedIn(table, spared)
    for (const each of mark.except ?? []) {
      const members = membersIn(each)
      for (const process of fresh) if (proofOf(process, each, members, table) !== null) exempt.add(process.pid)
    }
    close(exempt, () => {
      for (const process of processes) if (exempt.has(process.parent)) exempt.add(process.pid)
    })
    // A child may have been listed before its parent, by which it is exempt.
    for (const pid of [...exempt, ...sparedPids]) {
      const lost = found.get(pid)
      if (lost !== undefined) onLost(lost)
      found.delete(pid)
    }
    const members = membersIn(mark)
    for (const process of fresh) {
      const proof = proofOf(process, mark, members, table)
      if (proof !== null) add(process, proof)
    }
    close(found, () => {
      for (const process of processes) if (isChildOf(process, found, listings)) add(process, 'descendant')
    })
    if (listings === MAX_LISTINGS || !table.update()) return [...found.values()]
  }
}

/** Adds children of those in a set, and their children, until there are no more. */
function close(set: { readonly size: number }, addChildren: () => void): void {
  for (let size = -1; size !== set.size; ) {
    size = set.size
    addChildren()
  }
}

/**
 * Whether it is a child of one of them. From the second listing on the parent may have ended, and its number be another's; and nobody is
 * older than its parent, though a number that was given away during a listing can make it look so.
 */
function isChildOf(process: ProcessEntry, found: ReadonlyMap<number, Identity>, listings: number): boolean {
  const start = found.get(process.parent)?.start ?? null
  if (start === null || platform.isOlder(process.start, start) === true) return false
  return listings === 1 || seeStart(process.parent) === start
}

/** Those that the kernel lists as members of what was made for them. */
function membersIn({ group, orphans }: Birthmark): Map<number, SignalProof> {
  const inGroup = group === undefined ? [] : membersOf(group)
  return new Map([
    ...(orphans?.() ?? []).map((pid): [number, SignalProof] => [pid, 'orphan']),
    ...inGroup.map((pid): [number, SignalProof] => [pid, 'control group']),
  ])
}

/** What shows that a process was born of a mark, or null. */
function proofOf(
  process: ProcessEntry,
  { files, known, namespace, since }: Birthmark,
  members: ReadonlyMap<number, SignalProof>,
  table: ProcessTable,
): SignalProof | null {
  const { pid, start } = process
  if (since !== undefined && platform.isOlder(start, since) === true) return null
  const membership = members.get(pid)
  if (membership !== undefined) return membership
  if (known.some((each) => each.pid === pid && each.start === start)) return 'seen at birth'
  if (namespace !== null && isBornIn(namespace, table.namespaceOf(pid))) return 'environment'
  return files.length > 0 && table.holdsFile(pid, files) ? 'log file' : null
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
