import { Deadline } from '../deadline.js'
import { CustodyError } from '../errors.js'
import type { Identity } from '../identity.js'
import type { Locator } from '../locator/locator.js'
import type { Expectation } from '../serve/ownership.js'
import { openSession, type Session } from './open-session.js'
import { isRpcFailure } from './rpc-failure.js'

/** What a runtime says of itself over an authenticated session. Still a claim where it speaks of pid and start: the kernel decides. */
export interface Statement extends Identity {
  name: string
  instance: string
  namespace: string | null
  /** The canonical path, frozen at publication. */
  locator: string
  /** Its entry in the registry of the run it was born in, or null. */
  registryEntry: string | null
  endpoint: string
  state: 'serving' | 'draining' | 'drained'
}

export interface ShutdownOptions {
  /** With it the runtime compares once more, at this moment, and refuses a stranger. Without it this is an operator's stop. */
  expect?: Expectation
  /**
   * How long the caller will wait for the exit, in milliseconds. The runtime shortens its drain to a second less, so that it can cut
   * what is still open and exit in time.
   * @default the runtime's own `drainMs`
   */
  graceMs?: number
}

export interface ConnectOptions {
  /**
   * How long the proof, and each answer after it, may take, in milliseconds.
   * @default 2_000
   */
  timeoutMs?: number
}

/** A session with a live runtime that has proved that it knows the locator's token. */
export interface RuntimeClient extends AsyncDisposable {
  /**
   * Asks who it is.
   * @throws CUSTODY_CONNECTION_CLOSED when the session has ended, by either side
   * @throws CUSTODY_ANSWER_TIMEOUT when no answer came within `timeoutMs`
   * @throws CUSTODY_ANSWER_GARBAGE when a line came that is not the runtime's; the session has ended then
   */
  identify(): Promise<Statement>
  /**
   * Asks it to drain and to exit. Resolves when it has accepted; that it has exited is another fact.
   * @throws CUSTODY_NOT_OWNER when it compared and refused; nothing has happened then
   * @throws CUSTODY_CONNECTION_CLOSED when the session has ended, by either side; it may have accepted before
   * @throws CUSTODY_ANSWER_TIMEOUT when no answer came within `timeoutMs`; it may accept yet
   * @throws CUSTODY_ANSWER_GARBAGE when a line came that is not the runtime's; the session has ended then
   */
  shutdown(options?: ShutdownOptions): Promise<{ already: boolean }>
  /** Resolves when the session has ended. A reason to look at the process, never a proof that it is gone. */
  readonly ended: Promise<void>
  /** Ends the session, and nothing else. Until then it keeps this process alive. */
  close(): void
}

/**
 * Connects to a runtime and has it prove itself.
 *
 * @param locator from `readLocator`
 * @throws CUSTODY_CONNECT_FAILED when nobody listens there
 * @throws CUSTODY_CONNECTION_CLOSED when the listener hung up
 * @throws CUSTODY_PROOF_FALSE when the listener does not know the token: somebody else, to whom no secret was sent
 * @throws CUSTODY_ANSWER_GARBAGE when the listener does not speak this protocol: somebody else, to whom no secret was sent
 * @throws CUSTODY_ANSWER_TIMEOUT when no proof, or no answer after it, came within `timeoutMs`
 * @throws CUSTODY_UNSAFE_DIRECTORY when others can write to the directory of its socket; nothing was sent
 */
export async function connectRuntime(locator: Locator, { timeoutMs = 2_000 }: ConnectOptions = {}): Promise<RuntimeClient> {
  const session = await openSession(locator, Deadline.after(timeoutMs))
  const identify = async () => (await session.call('identify', {}, Deadline.after(timeoutMs))) as Statement
  try {
    // The first line proves the client, and may not be as long as a shutdown.
    await identify()
  } catch (error) {
    // Nobody else could: an open session keeps the process alive.
    session.close()
    throw error
  }
  return {
    identify,
    shutdown: (options) => requestShutdown(session, locator.name, options, Deadline.after(timeoutMs)),
    ended: session.ended,
    close: () => session.close(),
    [Symbol.asyncDispose]: async () => session.close(),
  }
}

/** Asks over an open session for the shutdown, and turns the refusal of a stranger into its error. */
export async function requestShutdown(
  session: Session,
  name: string,
  options: ShutdownOptions = {},
  deadline: Deadline,
): Promise<{ already: boolean }> {
  try {
    const { expect, graceMs } = options
    // JSON has no infinity; without a number the runtime's own limit holds.
    const params = { ...(expect && { expect }), ...(Number.isFinite(graceMs) && { graceMs }) }
    return (await session.call('shutdown', params, deadline)) as { already: boolean }
  } catch (error) {
    const data = isRpcFailure(error) ? (error.error.data as { code?: unknown; reason?: unknown } | undefined) : undefined
    if (data?.code !== 'not_owner') throw error
    throw new CustodyError('CUSTODY_NOT_OWNER', `Could not stop runtime "${name}": it refused, because ${data.reason}.`, {
      hint: 'it belongs to somebody else, or was restarted. It goes on as before.',
      facts: { name, reason: data.reason },
      cause: error,
    })
  }
}
