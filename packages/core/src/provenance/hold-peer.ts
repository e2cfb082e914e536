import { isObject, ownIdentity, type Session } from '@custody/runtime/internals'
import type { HeldPeer, Native } from '../platform/index.js'

/**
 * Takes hold of the process at the other end of a session, where the kernel shows that it is the one that it says it is. It is for those
 * whose start time means nothing here: of another pid or time namespace.
 */
export function holdPeer(session: Session, statement: unknown, findNative: () => Native | null): HeldPeer | null {
  if (!isObject(statement) || session.descriptor === null) return null
  const here = ownIdentity()
  const isElsewhere = statement['pidns'] !== here.pidns || statement['timens'] !== here.timens
  if (!isElsewhere || statement['boot'] !== here.boot) return null
  const peer = findNative()?.holdPeer(session.descriptor) ?? null
  // Its own number is the last: who only has been given the socket, as the primary of a cluster, has another one.
  if (peer !== null && peer.pids.at(-1) === statement['pid']) return peer
  peer?.release()
  return null
}
