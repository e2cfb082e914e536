import type { Identity } from '@custody/runtime'
import { Deadline, hasEnded } from '@custody/runtime/internals'
import { currentNative, type HeldProcess } from '../platform/index.js'
import type { SignalProof } from '../witness/witness.js'
import type { Birthmark } from './birthmark.js'
import { ExitEvents } from './exit-events.js'
import { findBornHere } from './find-born-here.js'
import { findHeadGroups } from './find-heads.js'
import { isYoungerThanThis, nextProcessTable } from './process-table.js'
import { type SignalTarget, sendSignal } from './send-signal.js'
import { stopUnseen } from './stop-unseen.js'

/** The first process of a tree, for its parent: while it has not been reaped its group's number is nobody else's. */
export interface Leader {
  readonly identity: Identity
  /** Resolves when it has exited. */
  readonly exited: Promise<unknown>
  /** Held since its start, where that is possible: its group can be reached also when it has been reaped. */
  readonly held: HeldProcess | null
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
  /** The signals that were sent, in order, one entry a round, without those that only stop and continue. */
  readonly signals: readonly NodeJS.Signals[]
  /** Whether anything had to be killed. */
  readonly forced: boolean
  /** What could not be ended. */
  readonly left: readonly Identity[]
}

interface Look {
  /** Whether it is only for who is younger than this process. */
  readonly isQuick?: boolean
  readonly onFound?: (found: SignalTarget) => void
  /** For who is not meant after all. */
  readonly onLost?: (found: SignalTarget) => void
}

/**
 * This many looks in a row must find nothing: a process between fork and exec shows its parent's face, and one that is replaced all the
 * time may be missed by one.
 */
export const EMPTY_LOOKS = 3
/** How long to go on killing what keeps coming, in milliseconds. */
const FORCE_MS = 5_000

/**
 * Ends a tree of processes: one polite signal, time to obey, and then force, until several looks find nothing that was born here.
 * The tree is looked at before the first signal, while everybody still has its parent.
 */
export async function stopTree(options: StopOptions): Promise<Stopped> {
  const events = new ExitEvents(options.leader)
  try {
    return await stop(options, events)
  } finally {
    events.release()
  }
}

async function stop(options: StopOptions, events: ExitEvents): Promise<Stopped> {
  const { graceMs, leader, mark, obeyBy, spared, stopSignal } = options
  // One that has been reaped may have left a daemon before anybody could see when it had started.
  if (leader !== null && leader.identity.start === null && leader.isUnreaped()) return stopUnseen(leader, options, FORCE_MS)
  const signals: NodeJS.Signals[] = []
  let known: readonly Identity[] = mark.known
  const proofs = new Map<string, SignalProof>()
  const asProcess = (identity: Identity): SignalTarget => {
    return { kind: 'process', identity, proof: proofs.get(keyOf(identity)) as SignalProof }
  }
  // Hundreds of trees may be stopped at once: they look together.
  const find = async ({ isQuick = false, onFound = () => {}, onLost = () => {} }: Look = {}): Promise<readonly Identity[]> => {
    const table = await nextProcessTable(isQuick)
    const found = findBornHere({ ...mark, known }, spared, {
      table,
      onFound: (identity, proof) => {
        // Found again it is known; how it came to be says more.
        if (!proofs.has(keyOf(identity))) proofs.set(keyOf(identity), proof)
        onFound(asProcess(identity))
      },
      onLost: (identity) => onLost(asProcess(identity)),
    })
    known = [...known, ...found.filter(({ pid, start }) => !known.some((old) => old.pid === pid && old.start === start))]
    return found
  }
  const note = (signal: NodeJS.Signals, isSent: boolean) => {
    if (isSent && signals.at(-1) !== signal) signals.push(signal)
  }

  known = await find()

  // To the group, but once: what npm forwards to its child must not come a second time. A leader that has exited has left a daemon
  // behind, whose head is asked instead; and whoever loses the head above it, then.
  const asked = new Set<Identity>()
  const askHeads = () => {
    const heads = findHeadGroups(known).filter((identity) => !asked.has(identity))
    for (const identity of heads) note(stopSignal, sendSignal(stopSignal, asProcess(identity)))
    for (const identity of heads) asked.add(identity)
  }
  const group = leader?.isUnreaped() ? groupOf(leader) : []
  for (const target of group) note(stopSignal, sendSignal(stopSignal, target))
  if (group.length === 0) askHeads()
  // A stopped process takes the signal only when it goes on.
  for (const target of group.length > 0 ? group : known.map(asProcess)) sendSignal('SIGCONT', target)
  const haveObeyed = await areGone(() => known, obeyBy ?? inMs(graceMs), events, group.length > 0 ? undefined : askHeads)
  if (haveObeyed && (await find({ isQuick: isYoungerThanThis(mark.since) })).length === 0) {
    return { signals, forced: false, left: [] }
  }

  // Each is stopped in its tracks as soon as it is found: who went on to fork would outrun the look, and the end of a parent hides
  // whose its children are.
  const onFound = (found: SignalTarget) => void sendSignal('SIGSTOP', found)
  const onLost = (found: SignalTarget) => void sendSignal('SIGCONT', found)
  const deadline = Deadline.after(FORCE_MS)
  for (let empty = 0; empty < EMPTY_LOOKS && !deadline.hasPassed; ) {
    const found = await find({ onFound, onLost })
    for (const target of leader === null ? [] : groupOf(leader)) note('SIGKILL', sendSignal('SIGKILL', target))
    empty = found.length === 0 ? empty + 1 : 0
    for (const identity of found) note('SIGKILL', sendSignal('SIGKILL', asProcess(identity)))
    if (found.length > 0) await areGone(() => found, inMs(100), events)
  }
  await find()
  // Also who was seen once, and is hidden now.
  return { signals, forced: signals.includes('SIGKILL'), left: known.filter((identity) => hasEnded(identity) !== true) }
}

function keyOf({ pid, start }: Identity): string {
  return `${pid} ${start}`
}

/** The group of a leader, as long as its number is nobody else's, or where the group itself is held. */
function groupOf(leader: Leader): SignalTarget[] {
  const { held, identity } = leader
  const isGroupHeld = held !== null && currentNative()?.mechanisms.has('group signal') === true
  return isGroupHeld || leader.isUnreaped()
    ? [{ kind: 'group', leader: identity, held, isUnreaped: () => leader.isUnreaped() }]
    : []
}

function inMs(ms: number): () => Deadline {
  const deadline = Deadline.after(ms)
  return () => deadline
}

async function areGone(
  processes: () => readonly Identity[],
  deadline: () => Deadline,
  events: ExitEvents,
  meanwhile: () => void = () => {},
): Promise<boolean> {
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 25)) {
    const pending = processes().filter((identity) => hasEnded(identity) !== true)
    if (pending.length === 0) return true
    if (deadline().hasPassed) return false
    meanwhile()
    await events.next(pending, waitMs, deadline().leftMs)
  }
}
