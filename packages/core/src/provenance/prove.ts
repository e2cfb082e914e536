import type { Identity, Locator, Statement } from '@custody/runtime'
import {
  type Deadline,
  hasCode,
  hasEnded,
  isFieldValid,
  isInScope,
  isObject,
  isRpcFailure,
  openSession,
  ownIdentity,
  pause,
  type Session,
  seeStart,
} from '@custody/runtime/internals'
import type { CapturedLocator } from '../locators/capture.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import { type HeldPeer, type Native, platform } from '../platform/index.js'
import type { Answer, Evidence, Recorded } from './evidence.js'
import { holdPeer } from './hold-peer.js'
import { findRole, type RunIdentity, readBorn } from './own-processes.js'

/** One capture, or several with the same content. */
export type Copies = readonly [CapturedLocator, ...CapturedLocator[]]

/** The evidence about a captured locator, and the session with its process while that is authentic. */
export interface Proof {
  readonly evidence: Evidence
  readonly session: Session | null
  /** Its process, where that is of another pid or time namespace and could be held. */
  readonly peer: HeldPeer | null
}

export interface ProofContext {
  readonly run: RunIdentity
  readonly scope: NamespaceId
  readonly proofMs: number
  /** Gets native code, which is not needed for most. */
  readonly findNative?: () => Native | null
}

/** A runtime on its way out closes connections before it is gone: it is looked at for at least this long, in milliseconds. */
const LEAST_LOOK_MS = 300

/**
 * Gathers the evidence: asks the live process, and the kernel about it. It asks nobody of the test run itself, nobody who was there
 * before, and it never signals.
 *
 * @param copies captures with the same content, of one and the same publication; one session and one verdict serve all
 */
export async function prove(copies: Copies, context: ProofContext, deadline: Deadline): Promise<Proof> {
  const { locator, path, source, unreadable } = copies[0]
  const known = { source, path, unreadable, scope: context.scope }
  if (locator === null) return { evidence: { ...unasked, ...known }, session: null, peer: null }

  const recorded = lookUp(locator)
  const role = recorded === 'alive' ? findRole(locator, context.run) : null
  const isOlderThanRun = recorded === 'alive' && isOlderThan(locator, context.run.runner)
  const identity = identityOf(locator)
  if (role !== null || isOlderThanRun) {
    return { evidence: { ...unasked, ...known, role, isOlderThanRun, recorded, identity }, session: null, peer: null }
  }

  const { answer, peer, session, statement, isSeenAlive } = await ask(locator, context, deadline)
  if (session === null) {
    const after = await lookUntilGone(locator, context, deadline)
    return { evidence: { ...unasked, ...known, answer, recorded: after, identity }, session: null, peer: null }
  }
  const form = checkForm(statement, locator)
  const said = form === 'complete' ? (statement as Statement) : null
  const published = copies.find((copy) => copy.path === said?.locator || copy.path === said?.registryEntry)
  return {
    evidence: {
      ...unasked,
      ...known,
      ...(published && { source: published.source, path: published.path }),
      answer,
      recorded,
      statement: form,
      namespace: said?.namespace ?? null,
      isInScope: said?.namespace != null && isInScope(said.namespace, context.scope),
      frozenPath: said?.locator ?? null,
      isPathEqual: published !== undefined,
      born: said !== null && isSeenAlive ? readBorn(peer?.pids[0] ?? said.pid, context.scope) : 'no',
      isSeenAlive,
      identity: said === null ? identity : identityOf(said),
    },
    session,
    peer,
  }
}

const unasked = {
  role: null,
  isOlderThanRun: false,
  answer: null,
  statement: null,
  namespace: null,
  isInScope: false,
  frozenPath: null,
  isPathEqual: false,
  recorded: 'unknowable',
  born: 'no',
  isSeenAlive: false,
  identity: null,
} as const satisfies Partial<Evidence>

interface Asked {
  answer: Answer
  session: Session | null
  peer: HeldPeer | null
  statement: unknown
  isSeenAlive: boolean
}

/** Asks until the time for the proof has passed. Whoever hangs up is asked again: it may be busy, or on its way out. */
async function ask(locator: Locator, context: ProofContext, teardown: Deadline): Promise<Asked> {
  const deadline = teardown.within(context.proofMs)
  let seen = await askOnce(locator, context, deadline)
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    const isWorthAnother = seen.answer === 'closed' || seen.answer === 'none'
    if (!isWorthAnother || deadline.hasPassed || isGone(lookUp(locator))) return seen
    await pause(Math.min(waitMs, deadline.leftMs))
    const asked = await askOnce(locator, context, deadline)
    // What was cut short by the end of the time says less than the answer before.
    if (asked.answer !== 'none' || !deadline.hasPassed) seen = asked
  }
}

async function askOnce(locator: Locator, { findNative = () => null }: ProofContext, deadline: Deadline): Promise<Asked> {
  let session: Session | null = null
  try {
    session = await openSession(locator, deadline)
    // The start time is read on both sides of the answer: the process that spoke is then the one that has this number.
    const before = seeStart(locator.pid)
    const statement = await session.call('identify', {}, deadline)
    const peer = holdPeer(session, statement, findNative)
    const isSeen = peer !== null || isSeenAlive(statement, before, locator.pid)
    return { answer: 'authentic', session, peer, statement, isSeenAlive: isSeen }
  } catch (error) {
    session?.close()
    return { answer: classify(error), session: null, peer: null, statement: null, isSeenAlive: false }
  }
}

function isSeenAlive(statement: unknown, before: string | null, pid: number): boolean {
  if (!isObject(statement) || statement['pid'] !== pid || before === null || statement['start'] !== before) return false
  const here = ownIdentity()
  const isHere = statement['boot'] === here.boot && statement['pidns'] === here.pidns && statement['timens'] === here.timens
  return isHere && seeStart(pid) === before
}

function classify(error: unknown): Answer {
  if (hasCode(error, 'CUSTODY_PROOF_FALSE')) return 'false'
  if (hasCode(error, 'CUSTODY_ANSWER_GARBAGE')) return 'garbage'
  if (hasCode(error, 'CUSTODY_CONNECTION_CLOSED')) return 'closed'
  if (hasCode(error, 'CUSTODY_CONNECT_FAILED', 'CUSTODY_ANSWER_TIMEOUT')) return 'none'
  // Others can write to the directory of its socket: whoever listens there is not asked.
  if (hasCode(error, 'CUSTODY_UNSAFE_DIRECTORY')) return 'none'
  // It refused to say who it is.
  if (isRpcFailure(error)) return 'garbage'
  throw error
}

function checkForm(statement: unknown, locator: Locator): NonNullable<Evidence['statement']> {
  if (!isObject(statement)) return 'malformed'
  const fields = ['name', 'pid', 'start', 'boot', 'pidns', 'timens', 'instance', 'namespace', 'endpoint'] as const
  const isComplete =
    fields.every((field) => isFieldValid(field, statement[field])) &&
    typeof statement['locator'] === 'string' &&
    (statement['registryEntry'] === null || typeof statement['registryEntry'] === 'string')
  if (!isComplete) return 'malformed'
  return statement['instance'] === locator.instance ? 'complete' : 'another instance'
}

async function lookUntilGone(locator: Locator, { proofMs }: ProofContext, teardown: Deadline): Promise<Recorded> {
  const deadline = teardown.within(Math.max(proofMs, LEAST_LOOK_MS))
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    const recorded = lookUp(locator)
    if (recorded !== 'alive' || deadline.hasPassed) return recorded
    await pause(waitMs)
  }
}

/** What the kernel says now about the process that a locator names. */
function lookUp(locator: Locator): Recorded {
  const here = ownIdentity()
  if (locator.boot !== null && here.boot !== null && locator.boot !== here.boot) return 'other boot'
  const hasGone = hasEnded(locator)
  return hasGone === null ? 'unknowable' : hasGone ? 'gone' : 'alive'
}

function isGone(recorded: Recorded): boolean {
  return recorded === 'gone' || recorded === 'other boot'
}

function isOlderThan(locator: Locator, runner: Identity): boolean {
  return locator.start !== null && runner.start !== null && platform.isOlder(locator.start, runner.start) === true
}

function identityOf({ pid, start, boot, pidns, timens }: Identity): Identity {
  return { pid, start, boot, pidns, timens }
}
