import type { Identity } from '@custody/runtime'
import { type ProcessEntry, platform } from '../platform/index.js'

/** Those of a tree who have nobody of it above them. */
export function findHeads(tree: readonly Identity[]): Identity[] {
  return headsOf(lookAt(tree)).map(({ identity }) => identity)
}

/**
 * The heads, each with those of its group: whom a signal to that group would reach. What they have put into groups of its own is theirs
 * to end, as long as they live: PostgreSQL's processes take the same signals for other orders.
 */
export function findHeadGroups(tree: readonly Identity[]): Identity[] {
  const alive = lookAt(tree)
  const groups = new Set(headsOf(alive).map(({ group }) => group))
  return alive.filter(({ group }) => groups.has(group)).map(({ identity }) => identity)
}

interface Seen extends ProcessEntry {
  readonly identity: Identity
}

function lookAt(tree: readonly Identity[]): Seen[] {
  return tree.flatMap((identity) => {
    const entry = platform.readProcess(identity.pid)
    return entry?.start === identity.start ? [{ ...entry, identity }] : []
  })
}

function headsOf(alive: readonly Seen[]): Seen[] {
  const pids = new Set(alive.map(({ pid }) => pid))
  return alive.filter(({ parent }) => !pids.has(parent))
}
