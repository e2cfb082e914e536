import { randomBytes } from 'node:crypto'
import type { Statement } from '../client/connect-runtime.js'
import { clock } from '../clock.js'
import { Deadline } from '../deadline.js'
import { CustodyError } from '../errors.js'
import type { Locator } from '../locator/locator.js'
import { canonicalPath, type Publication, publishLocator } from '../locator/publication.js'
import { ownIdentity } from '../platform/index.js'
import { isReplaceable } from './is-replaceable.js'
import { holdLifeline } from './lifeline.js'
import { checkOptions, type ServeRuntimeOptions, type ShutdownReason } from './options.js'
import { findMismatch, notOwner, readShutdownParams } from './ownership.js'
import { type Answer, METHOD_NOT_FOUND, type Peer, ProtocolServer } from './protocol-server.js'
import { readBirthplace, registerLocator, registryEntryPath, unregisterLocator } from './registry-entry.js'
import { chooseEndpoint, listen } from './socket.js'
import { Work } from './work.js'

/** A published runtime: this process, as others can reach it. */
export interface ServedRuntime extends AsyncDisposable {
  /** The canonical path of its locator, frozen at publication. */
  readonly locator: string
  readonly instance: string
  /** Notes one piece of accepted work until it is disposed of: the drain and the idle exit wait for it. */
  track(): Disposable
  /**
   * Drains as if asked to shut down, removes the locator and, unless `exit` is false, exits.
   * @throws what `onShutdown` threw, when `exit` is false: the locator stays then, and nobody listens or waits for signals any more
   */
  close(): Promise<void>
}

/** Time to leave after the drain was cut, in milliseconds. */
const LAST_WORDS_MS = 1_000

/**
 * Publishes this process as a runtime: a locator that says how to reach it, and an endpoint where it proves who it is and can be
 * asked to shut down. Requests that come while it publishes wait until the publication has settled.
 *
 * @throws CUSTODY_INVALID_OPTION when an option is missing or malformed; the error names it
 * @throws CUSTODY_NOT_MAIN_THREAD when it is called in a worker thread, which cannot exit for its process
 * @throws CUSTODY_SOCKET_PATH_TOO_LONG when the system would cut the path of its socket; nothing was made
 * @throws CUSTODY_UNSAFE_DIRECTORY when others can reach the directory of its socket, or it cannot be made
 * @throws CUSTODY_PUBLICATION_FAILED when something else is at the locator's path, or it cannot be written; nothing is left behind
 */
export async function serveRuntime(options: ServeRuntimeOptions): Promise<ServedRuntime> {
  checkOptions(options)
  const { drainMs = 10_000, idleMs = Infinity, signals = ['SIGTERM', 'SIGINT'], exit = true } = options
  const birthplace = readBirthplace(process.env)
  const instance = randomBytes(16).toString('hex')
  const locator: Locator = {
    version: 1,
    name: options.name,
    ...ownIdentity(),
    instance,
    namespace: birthplace?.namespace ?? null,
    endpoint: chooseEndpoint(instance, birthplace?.runDirectory),
    token: randomBytes(32).toString('hex'),
    created: new Date().toISOString(),
    details: options.details ?? {},
  }
  const path = canonicalPath(options.locator)
  const registryEntry = birthplace && registryEntryPath(birthplace, instance)

  let state: Statement['state'] = 'serving'
  let publication: Publication | null = null
  let stopping: Promise<void> | null = null
  const interested = new Set<Peer>()
  // What is not published yet cannot be withdrawn.
  const work = new Work(idleMs, () => {
    settled.then(
      () => begin('idle'),
      () => {}, // Whoever called hears of it.
    )
  })

  const answers: Record<string, (params: unknown, peer: Peer) => unknown> = {
    identify(): Statement {
      const { name, pid, start, boot, pidns, timens, namespace, endpoint } = locator
      return { name, pid, start, boot, pidns, timens, instance, namespace, locator: path, registryEntry, endpoint, state }
    },
    shutdown(params, peer) {
      const { expect, graceMs } = readShutdownParams(params)
      // Compared now, whatever an earlier identify said: a match then was no authorisation.
      const mismatch =
        expect === undefined
          ? null
          : findMismatch({ locator: path, registryEntry, instance, namespace: locator.namespace }, expect)
      if (mismatch !== null) throw notOwner(mismatch)
      const already = stopping !== null
      interested.add(peer)
      // The answer goes out first: accepted and drained are two facts.
      clock.setImmediate(() => begin('request', graceMs))
      return { accepted: true, already }
    },
  }

  const answer: Answer = async (method, params, peer) => {
    await settled
    const respond = Object.hasOwn(answers, method) ? answers[method] : undefined
    if (respond === undefined) throw METHOD_NOT_FOUND
    return respond(params, peer)
  }

  const protocol = new ProtocolServer(Buffer.from(locator.token, 'hex'), locator.endpoint, answer)
  const settled = publish()
  await settled
  if (birthplace !== null) void holdLifeline(birthplace.runDirectory, () => begin('lifeline'))

  return {
    locator: path,
    instance,
    track() {
      const end = work.begin()
      return { [Symbol.dispose]: end }
    },
    close: () => stop('close'),
    [Symbol.asyncDispose]: () => stop('close'),
  }

  async function publish(): Promise<void> {
    try {
      await listen(protocol.server, locator.endpoint.slice(locator.endpoint.indexOf(':') + 1)).catch((cause) => {
        throw notListening(path, locator.endpoint, cause)
      })
      // First where its test looks, then where the world looks: whoever can reach it is able to account for it.
      if (registryEntry !== null) registerLocator(registryEntry, { ...locator, path })
      publication = await publishLocator(path, locator, isReplaceable)
    } catch (error) {
      try {
        retreat()
      } catch (remains) {
        // The caller hears why it could not start, which says more than what could not be cleared away.
        console.error(remains)
      }
      throw error
    }
    listenToSignals()
  }

  function retreat(): void {
    work.stopWaiting()
    protocol.close()
    if (registryEntry !== null) unregisterLocator(registryEntry)
  }

  function listenToSignals(): void {
    // A repeated signal changes nothing: npm and a terminal each send one of their own.
    for (const signal of signals || []) process.on(signal, stopBySignal)
  }

  function stopBySignal(): void {
    begin('signal')
  }

  /** Stops for somebody who does not wait for it. With `exit: false` nobody else would say what went wrong. */
  function begin(reason: ShutdownReason, graceMs?: number): void {
    stop(reason, graceMs).catch((error: unknown) => console.error(error))
  }

  function stop(reason: ShutdownReason, graceMs = Infinity): Promise<void> {
    // A caller looks away when its grace has passed: a drain that had to be cut has its last words before.
    stopping ??= drain(reason, Deadline.after(Math.min(drainMs, Math.max(0, graceMs - LAST_WORDS_MS))))
    return stopping
  }

  async function drain(reason: ShutdownReason, deadline: Deadline): Promise<void> {
    state = 'draining'
    work.stopWaiting()
    for (const peer of interested) peer.notify('draining', { pending: work.pending })
    const outOfTime = new AbortController()
    const cancelCut = deadline.onPassed(() => outOfTime.abort())
    const cancelEnd = exit ? deadline.plus(LAST_WORDS_MS).onPassed(() => leave(1)) : () => {}
    try {
      await options.onShutdown({ reason, signal: outOfTime.signal, graceMs: deadline.leftMs })
      await work.finished()
    } catch (error) {
      leave(1)
      if (!exit) throw error
      return console.error(error)
    } finally {
      cancelCut()
      cancelEnd()
    }
    state = 'drained'
    for (const peer of interested) peer.notify('drained')
    publication?.withdraw()
    if (registryEntry !== null) unregisterLocator(registryEntry)
    leave(0)
  }

  function leave(code: number): void {
    protocol.close()
    // Exit in a turn of its own, so that what was written to the peers has left. A code that the product has set stays.
    if (exit) clock.setImmediate(() => process.exit(code || process.exitCode))
    else for (const signal of signals || []) process.off(signal, stopBySignal)
  }
}

function notListening(path: string, endpoint: string, cause: unknown): CustodyError {
  const reason = `its socket cannot be made (${(cause as NodeJS.ErrnoException).code})`
  return new CustodyError('CUSTODY_PUBLICATION_FAILED', `Could not publish the locator ${path}: ${reason}.`, {
    hint: 'make the directory of the socket writable, with room on its disk.',
    facts: { path, reason, endpoint },
    cause,
  })
}
