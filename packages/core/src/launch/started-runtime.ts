import { constants } from 'node:os'
import type { Identity } from '@custody/runtime'
import { CustodyError, Deadline } from '@custody/runtime/internals'
import type { Receipt } from '../retire/receipt.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { Ended, ExitNotice } from '../supervisor/protocol.js'
import { refusal } from './check-spec.js'
import type { LogFile } from './log-file.js'
import { matches } from './probes/log.js'
import { receiptOf } from './receipt-of.js'

/** How a runtime ended. Code and signal are both null for a daemon: its status is its parent's to know. */
export interface RuntimeExit {
  readonly code: number | null
  readonly signal: string | null
  /** Whether it was asked to. */
  readonly expected: boolean
}

/** What a runtime has written. */
export interface RuntimeLog {
  readonly path: string
  text(): string
  /** The last lines. */
  tail(lines: number): string
  /**
   * Resolves with the first match, of what is there and of what comes.
   * @param options `since`: the byte from which on to look, by default 0; `timeoutMs`: by default 30 000
   * @throws CUSTODY_LOG_TIMEOUT, CUSTODY_RUNTIME_EXITED
   */
  waitFor(pattern: RegExp | string, options?: { since?: number; timeoutMs?: number }): Promise<RegExpMatchArray>
}

/** Ports by name: those that were asked for; and where none were, what its output has named. */
export type Ports<P extends string> = [P] extends [never] ? Readonly<Record<string, number>> : Readonly<Record<P, number>>

/** A runtime that a test has started. It ends with its scope at the latest. */
export interface Runtime<P extends string = string> extends AsyncDisposable {
  readonly name: string
  readonly pid: number
  readonly identity: Identity
  readonly instance: string
  /** Whether it ran already: Custody has not started it, and does not stop it. */
  readonly isExternal: boolean
  /** `http://<host>:<first port>`, with the loopback address that answered, by default 127.0.0.1; empty without ports. */
  readonly url: string
  readonly ports: Ports<P>
  /** What the log probe matched; null without one. */
  readonly match: RegExpMatchArray | null
  readonly env: Readonly<Record<string, string>>
  readonly dir: string
  readonly log: RuntimeLog
  /** Resolves when it has exited: its first process, or the daemon that its command has left. */
  readonly exited: Promise<RuntimeExit>
  /** Ends it and everything that was born of it. Resolves when all exits were observed. @throws CUSTODY_NOT_STOPPED */
  stop(): Promise<Receipt>
  /** Stops it, and starts it again with the same ports. What is read of it afterwards is of the new process. */
  restart(): Promise<void>
  /** Stops its processes in their tracks. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Sends a signal to its group. What follows is an expected exit. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Kills it at once, for tests of what happens then. Resolves when it has exited. */
  crash(): Promise<RuntimeExit>
}

/** A runtime that others use too: nobody stops it alone. */
export type Shared<P extends string = string> = Omit<Runtime<P>, 'stop' | 'restart' | typeof Symbol.asyncDispose>

/** The same in the hands of its scope, which can cut a restart short. */
export interface Started<P extends string = string> extends Runtime<P> {
  restart(signal?: AbortSignal): Promise<void>
}

export interface Launched<P extends string> {
  readonly id: string
  readonly name: string
  readonly identity: Identity
  readonly ports: Ports<P>
  readonly match: RegExpMatchArray | null
  /** The loopback address that answered on its ports. */
  readonly host: string
  readonly env: Readonly<Record<string, string>>
  readonly dir: string
  readonly log: LogFile
  readonly graceMs: number
  /** Whether nothing of its output is shown. */
  readonly isHidden: boolean
  readonly link: SupervisorLink
  readonly exit: Promise<ExitNotice>
  /** Called when it has been stopped. */
  onStopped(): void
}

/** What a stop may take beyond the grace: looks, force, and the way of the answer, in milliseconds. */
export const STOP_MARGIN_MS = 15_000

/**
 * The handle of a runtime that is ready.
 * @param relaunch starts it once more, with the same ports; its signal ends the wait for it
 */
export function runtimeOf<P extends string>(
  first: Launched<P>,
  relaunch: (signal?: AbortSignal) => Promise<Launched<P>>,
): Started<P> {
  let current = first
  let stopping: Promise<Receipt> | null = null

  const signal = async (name: NodeJS.Signals) => {
    if (!Object.hasOwn(constants.signals, name)) throw refusal('the signal', name, "a signal's name, such as 'SIGTERM'")
    if (await current.link.call<boolean>('signal', { id: current.id, signal: name })) return
    throw new CustodyError('CUSTODY_RUNTIME_EXITED', `Could not send ${name} to runtime "${current.name}": it has exited.`, {
      hint: 'start it again with restart().',
      facts: { name: current.name, signal: name },
    })
  }
  const exited = () => {
    const exit = current.exit.then(({ exit: { code, signal }, expected }) => ({ code, signal, expected }))
    // Often nobody waits for it.
    exit.catch(() => {})
    return exit
  }
  const end = async () => {
    const { graceMs, id, link, name } = current
    const ended = await link.call<Ended>('stop', { id }, graceMs + STOP_MARGIN_MS)
    if (ended.left.length > 0) throw notStopped(name, ended)
    return receiptOf(ended, null)
  }
  // Stops and restarts take turns: one that overtakes the other would leave behind what it did not know of.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const acted = turn.then(act, act)
    turn = acted.catch(() => {})
    return acted
  }
  const stop = () => {
    stopping ??= inTurn(() => end().finally(() => current.onStopped()))
    return stopping
  }

  return withHiddenEnv({
    name: first.name,
    isExternal: false,
    dir: first.dir,
    env: first.env,
    get url() {
      return urlOf(current)
    },
    get pid() {
      return current.identity.pid
    },
    get identity() {
      return current.identity
    },
    get instance() {
      return current.id
    },
    get ports() {
      return current.ports
    },
    get match() {
      return current.match
    },
    get exited() {
      return exited()
    },
    log: {
      get path() {
        return current.log.path
      },
      text: () => current.log.text(),
      tail: (lines) => current.log.tail(lines),
      waitFor: (pattern, options) => waitForLog(current, pattern, options),
    },
    stop,
    restart(signal) {
      // Whoever asks for a stop from now on means what is started here.
      stopping = null
      return inTurn(async () => {
        await end()
        current = await relaunch(signal)
      })
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    kill: signal,
    async crash() {
      await signal('SIGKILL')
      return exited()
    },
    async [Symbol.asyncDispose]() {
      await stop()
    },
  })
}

/** Not enumerable: a failed matcher would print all of it. */
export function withHiddenEnv<R extends Pick<Runtime, 'env'>>(runtime: R): R {
  return Object.defineProperty(runtime, 'env', { enumerable: false })
}

function urlOf({ host, ports }: Pick<Launched<string>, 'host' | 'ports'>): string {
  const [first] = Object.values(ports)
  return first === undefined ? '' : `http://${host.includes(':') ? `[${host}]` : host}:${first}`
}

export function notStopped(name: string, { left, tookMs }: Pick<Ended, 'left' | 'tookMs'>): CustodyError {
  const pids = left.map(({ pid }) => pid).join(', ')
  return new CustodyError(
    'CUSTODY_NOT_STOPPED',
    `Could not stop runtime "${name}": pid ${pids} is still alive after ${tookMs} ms.`,
    {
      hint: 'it does not even obey SIGKILL: it may wait for a device or a file system.',
      facts: { name, left },
    },
  )
}

async function waitForLog(
  { exit, isHidden, log, name }: Pick<Launched<string>, 'exit' | 'isHidden' | 'log' | 'name'>,
  pattern: RegExp | string,
  { since = 0, timeoutMs = 30_000 }: { since?: number; timeoutMs?: number } = {},
): Promise<RegExpMatchArray> {
  const over = new AbortController()
  const cancel = Deadline.after(timeoutMs).onPassed(() => over.abort())
  let hasExited = false
  const onExit = () => {
    hasExited = true
    over.abort()
  }
  exit.then(onExit, onExit)
  try {
    for await (const match of matches(log, pattern, over.signal, { since })) return match
  } finally {
    cancel()
  }
  const observed = hasExited ? 'it has exited' : `${timeoutMs} ms have passed`
  throw new CustodyError(
    hasExited ? 'CUSTODY_RUNTIME_EXITED' : 'CUSTODY_LOG_TIMEOUT',
    `Could not wait for ${pattern} of runtime "${name}": ${observed}.${isHidden ? '' : `\n${log.tail(20)}`}`,
    { hint: 'see its last lines above.', facts: { name, timeoutMs } },
  )
}
