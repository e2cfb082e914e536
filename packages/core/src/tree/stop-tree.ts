import type { Identity } from '@custody/runtime'
import { Deadline, hasEnded, pause } from '@custody/runtime/internals'
import type { Birthmark } from './birthmark.js'
import { findBornHere } from './find-born-here.js'
import { nextProcessTable } from './process-table.js'
import { type SignalTarget, sendSignal } from './send-signal.js'

/** The first process of a tree, for its parent: while it has not been reaped its group's number is nobody else's. */
export interface Leader {
  readonly identity: Identity
  /** Whether its parent has not reaped it yet. */
  isUnreaped(): boolean
}

export interface StopOptions {
  readonly mark: Birthmark
  /** Null for what was found without its first process: a leak, or what a dead run left. */
  readonly leader: Leader | null
  readonly spared: readonly Identity[]
  readonly stopSignal: NodeJS.Signals
  /** Milliseconds between the polite signal and the forced end. */
  readonly graceMs: number
  /** Looked at again and again while the grace lasts: brings its end forward when somebody is in more of a hurry. */
  readonly obeyBy?: () => Deadline
}

/** How a tree ended. */
export interface Stopped {
  /** The signals that were sent, in order, one entry a round. */
  readonly signals: readonly NodeJS.Signals[]
  /** Whether anything had to be killed. */
  readonly forced: boolean
  /** What could not be ended. */
  readonly left: readonly Identity[]
}

/** This many looks in a row must find nothing: a process between fork and exec shows its parent's face. */
const EMPTY_LOOKS = 3
/** How long to go on killing what keeps coming, in milliseconds. */
const FORCE_MS = 5_000

/**
 * Ends a tree of processes: one polite signal, time to obey, and then force, until several looks find nothing that was born here.
 * The tree is looked at before the first signal, while everybody still has its parent.
 */
export async function stopTree({ graceMs, leader, mark, obeyBy, spared, stopSignal }: StopOptions): Promise<Stopped> {
  const signals: NodeJS.Signals[] = []
  let known: readonly Identity[] = mark.known
  // Hundreds of trees may be stopped at once: they look together.
  const find = async (): Promise<Identity[]> => {
    const table = await nextProcessTable()
    const found = findBornHere({ ...mark, known }, spared, table)
    known = [...known, ...found.filter(({ pid, start }) => !known.some((old) => old.pid === pid && old.start === start))]
    return found
  }
  const note = (signal: NodeJS.Signals, isSent: boolean) => {
    if (isSent && signals.at(-1) !== signal) signals.push(signal)
  }

  known = await find()

  // To the group, or else to each, but once: what npm forwards to its child must not come a second time. A leader that has exited
  // has left a daemon behind, which is to be asked as well.
  const group = groupOf(leader)
  const polite: SignalTarget[] = group.length > 0 ? group : known.map((identity) => ({ kind: 'process', identity }))
  for (const target of polite) note(stopSignal, sendSignal(stopSignal, target))
  // A stopped process takes the signal only when it goes on.
  for (const target of polite) sendSignal('SIGCONT', target)
  const haveObeyed = await areGone(() => known, obeyBy ?? inMs(graceMs))
  if (haveObeyed && (await find()).length === 0) return { signals, forced: false, left: [] }

  const deadline = Deadline.after(FORCE_MS)
  for (let empty = 0; empty < EMPTY_LOOKS && !deadline.hasPassed; ) {
    for (const target of groupOf(leader)) note('SIGKILL', sendSignal('SIGKILL', target))
    const found = await find()
    empty = found.length === 0 ? empty + 1 : 0
    for (const identity of found) note('SIGKILL', sendSignal('SIGKILL', { kind: 'process', identity }))
    if (found.length > 0) await areGone(() => found, inMs(100))
  }
  return { signals, forced: signals.includes('SIGKILL'), left: await find() }
}

function groupOf(leader: Leader | null): SignalTarget[] {
  return leader?.isUnreaped() ? [{ kind: 'group', leader: leader.identity }] : []
}

function inMs(ms: number): () => Deadline {
  const deadline = Deadline.after(ms)
  return () => deadline
}

async function areGone(processes: () => readonly Identity[], deadline: () => Deadline): Promise<boolean> {
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 25)) {
    if (processes().every((identity) => hasEnded(identity) === true)) return true
    if (deadline().hasPassed) return false
    await pause(Math.min(waitMs, deadline().leftMs))
  }
}
