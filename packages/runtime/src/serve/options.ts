import { constants } from 'node:os'
import { isAbsolute } from 'node:path'
import { inspect } from 'node:util'
import { isMainThread } from 'node:worker_threads'
import { CustodyError } from '../errors.js'
import { DETAILS_BYTES } from '../locator/locator.js'
import { isObject, type JsonValue, parseJson } from '../wire/json.js'

/** Why a runtime drains. `lifeline`: the test run that it was born in is over. */
export type ShutdownReason = 'request' | 'signal' | 'idle' | 'close' | 'lifeline'

export interface Shutdown {
  readonly reason: ShutdownReason
  /** Aborts when the drain has run out of time: cut what is still open. */
  readonly signal: AbortSignal
  /** What is left of the drain's time at this moment, in milliseconds. */
  readonly graceMs: number
}

export interface ServeRuntimeOptions {
  /** What the runtime calls itself, for people; 1 to 128 characters. */
  name: string
  /** Where its locator is published: an absolute path in an existing directory. */
  locator: string
  /**
   * Drains the product: accepts nothing new, finishes what was accepted, flushes. The locator is removed and the process exits
   * when this has resolved and all tracked work has ended.
   */
  onShutdown(shutdown: Shutdown): void | Promise<void>
  /**
   * How long the drain may take, in milliseconds. A caller's grace may shorten it, to a second less than the caller waits. When it
   * runs out, the signal of `onShutdown` aborts: a drain that ends then is a whole one. A second later the process exits with code 1
   * and leaves its locator, because it has not drained.
   * @default 10_000
   */
  drainMs?: number
  /**
   * Exits after this many milliseconds without tracked work, on the same path as a shutdown.
   * @default Infinity
   */
  idleMs?: number
  /**
   * The product's own fields in the locator, up to 4 KiB of JSON, so that its client needs no second file.
   * @default {}
   */
  details?: Readonly<Record<string, JsonValue>>
  /**
   * Signals that take the same path as a shutdown. `false` leaves all signals to the product.
   * @default ['SIGTERM', 'SIGINT']
   */
  signals?: readonly NodeJS.Signals[] | false
  /**
   * Whether the process exits after the drain. `false` is for a host that has other things to do.
   * @default true
   */
  exit?: boolean
}

/** @throws CUSTODY_INVALID_OPTION, CUSTODY_NOT_MAIN_THREAD */
export function checkOptions(options: ServeRuntimeOptions): void {
  const { name, locator, onShutdown, drainMs = 0, idleMs = 0, details = {}, signals = [], exit = true } = options
  if (!isMainThread) {
    throw new CustodyError('CUSTODY_NOT_MAIN_THREAD', `Could not serve runtime "${name}": this is a worker thread.`, {
      hint: 'call serveRuntime in the main thread: a thread cannot exit for its process.',
      facts: { name },
    })
  }
  if (typeof name !== 'string' || name.length < 1 || name.length > 128) refuse('name', name, 'a text of 1 to 128 characters')
  if (typeof locator !== 'string' || !isAbsolute(locator) || locator.includes('\0'))
    refuse('locator', locator, 'an absolute path')
  if (typeof onShutdown !== 'function') refuse('onShutdown', onShutdown, 'a function')
  if (!isDuration(drainMs)) refuse('drainMs', drainMs, 'milliseconds, 0 or more')
  if (!isDuration(idleMs)) refuse('idleMs', idleMs, 'milliseconds, 0 or more, or Infinity')
  const json = asJson(details)
  if (!isObject(parseJson(json))) refuse('details', details, 'an object of JSON values')
  const bytes = Buffer.byteLength(json)
  if (bytes > DETAILS_BYTES) refuse('details', `${bytes} bytes`, `at most ${DETAILS_BYTES} bytes of JSON`)
  if (signals !== false && !(Array.isArray(signals) && signals.every(canListenTo))) {
    refuse('signals', signals, 'a list of signals that a process can listen to, or false')
  }
  if (typeof exit !== 'boolean') refuse('exit', exit, 'true or false')
}

/** The JSON of a value; an empty text when it has none, like a circle, a bigint, or a function. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

function canListenTo(signal: unknown): boolean {
  return typeof signal === 'string' && signal in constants.signals && signal !== 'SIGKILL' && signal !== 'SIGSTOP'
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

function refuse(option: string, given: unknown, expected: string): never {
  throw new CustodyError(
    'CUSTODY_INVALID_OPTION',
    `Could not serve a runtime: the option ${option} is ${shorten(inspect(given))}.`,
    {
      hint: `give ${expected}.`,
      facts: { option, expected },
    },
  )
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
