import { URL } from 'node:url'
import { CustodyError, hasCode } from '@custody/runtime/internals'
import { show } from '../options/show.js'
import type { Logs, Ready, StartSpec } from '../options/start-spec.js'
import { suggest } from '../options/suggest.js'

const LOGS: readonly unknown[] = ['on-failure', 'stream', 'never'] satisfies Logs[]

export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isText)
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What each member may be. A member that is left out is right. */
export type Members = Readonly<Record<string, readonly [isRight: (value: unknown) => boolean, expected: string]>>

const members: Members = {
  name: [(value) => /^[\w.@/-]{1,64}$/.test(String(value)) && isText(value), '1 to 64 letters, digits or any of . _ @ / -'],
  command: [isCommand, 'a list of program and arguments, a text, or a function'],
  shell: [isBoolean, 'true or false'],
  cwd: [isText, 'a path'],
  env: [isEnvironment, 'an object of texts'],
  ports: [isPortNames, 'names of letters and digits, each once'],
  ready: [() => true, ''],
  readyMs: [isDuration, 'milliseconds, 0 or more'],
  needs: [isNeeds, 'a list of runtimes, as start and shared return them, or of definitions'],
  stopSignal: [(value) => ['SIGTERM', 'SIGINT', 'SIGQUIT'].includes(value as string), 'SIGTERM, SIGINT or SIGQUIT'],
  graceMs: [isDuration, 'milliseconds, 0 or more'],
  onExit: [(value) => value === 'fail' || value === 'ignore', "'fail' or 'ignore'"],
  daemonizes: [isBoolean, 'true or false'],
  logs: [(value) => LOGS.includes(value), "'on-failure', 'stream' or 'never'"],
}

export function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

export function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

function isCommand(value: unknown): boolean {
  return isText(value) || typeof value === 'function' || isList(value)
}

/** A program and its arguments: these may be empty, the program may not. */
export function isList(value: unknown): boolean {
  return Array.isArray(value) && isText(value[0]) && value.every((part) => typeof part === 'string')
}

export function isEnvironment(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((each) => each === undefined || typeof each === 'string')
}

function isPortNames(value: unknown): boolean {
  if (!Array.isArray(value) || !value.every((port) => isText(port) && /^[A-Za-z]\w*$/.test(port))) return false
  // They are variables of the environment, in capitals.
  return new Set(value.map((port: string) => port.toUpperCase())).size === value.length
}

function isNeeds(value: unknown): boolean {
  const isNeed = (need: unknown) =>
    isObject(need) && 'name' in need && isText(need.name) && (!('instance' in need) || isText(need.instance))
  return Array.isArray(value) && value.every(isNeed)
}

/** @throws CUSTODY_INVALID_OPTION which names what is wrong */
export function checkSpec(spec: StartSpec): void {
  if (!isObject(spec)) refuse('the specification', spec, 'an object with name and command')
  const { name } = spec as { name?: unknown }
  if (isText(name)) inTheNameOf(`Could not start runtime "${name}"`, () => checkWhole(spec))
  else checkWhole(spec)
}

/** @throws CUSTODY_INVALID_OPTION for a member that there is not, or that is wrong */
export function checkMembers(given: object, known: Members): void {
  for (const [key, value] of Object.entries(given)) {
    const member = Object.hasOwn(known, key) ? known[key] : undefined
    if (member === undefined) throw unknownMember(key, Object.keys(known))
    const [isRight, expected] = member
    if (value !== undefined && !isRight(value)) refuse(key, value, expected)
  }
}

function checkWhole(spec: StartSpec): void {
  checkMembers(spec, members)
  for (const key of ['name', 'command'] as const) if (spec[key] === undefined) refuse(key, undefined, members[key]?.[1] ?? '')
  const { command, ports = [] } = spec
  if (typeof command === 'string' && spec.shell !== true && /[|&;<>()$`\\"'*?~#\n]/.test(command)) {
    refuse('command', command, 'a list of program and arguments, or shell: true for what only a shell understands')
  }
  for (const ready of [spec.ready ?? []].flat()) checkReady(ready as Ready, ports)
}

/** What each kind of condition may have beside its kind. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  log: ['count', 'stream'],
  ...{ port: [], http: [], file: [], socket: [], exec: [], locator: [] },
}

function checkReady(ready: Ready, ports: readonly string[]): void {
  if (!isObject(ready)) refuse('ready', ready, "an object such as { log: 'listening' }, or a list of them")
  const kinds = Object.keys(CONDITIONS).filter((kind) => kind in ready)
  const [kind = ''] = kinds
  if (kinds.length !== 1) refuse('ready', ready, `one of ${Object.keys(CONDITIONS).join(', ')}; several in a list`)
  const other = Object.keys(ready).find((key) => key !== kind && !CONDITIONS[kind]?.includes(key))
  if (other !== undefined) throw unknownMember(other, [kind, ...(CONDITIONS[kind] ?? [])], ['ready'])
  if ('http' in ready) checkHttp(ready.http, ports)
  if ('exec' in ready && !isTexts(ready.exec)) refuse('ready.exec', ready.exec, 'a list of program and arguments')
  if ('log' in ready) checkLog(ready)
  for (const path of ['file', 'socket', 'locator'] as const) {
    const value = (ready as Record<string, unknown>)[path]
    if (path in ready && !isText(value)) refuse(`ready.${path}`, value, 'a path')
  }
  if ('port' in ready && !ports.includes(ready.port))
    refuse('ready.port', ready.port, `one of its ports (${ports.join(', ') || 'it has none'})`)
}

function checkLog({ count, log, stream }: Extract<Ready, { log: unknown }>): void {
  // A pattern of another realm, as of a Jest test, is no instance of this one's.
  const isPattern = Object.prototype.toString.call(log) === '[object RegExp]'
  if (!isPattern && (typeof log !== 'string' || log === '')) refuse('ready.log', log, 'a text or a pattern')
  if (count !== undefined && !(Number.isInteger(count) && count > 0)) refuse('ready.count', count, 'a whole number from 1 on')
  if (stream !== undefined && stream !== 'stdout' && stream !== 'stderr') refuse('ready.stream', stream, "'stdout' or 'stderr'")
}

function checkHttp(http: Extract<Ready, { http: unknown }>['http'], ports: readonly string[]): void {
  const url = typeof http === 'string' ? http : http?.url
  if (typeof url === 'string' && url.startsWith('/')) {
    if (ports.length === 0) refuse('ready.http', url, 'an absolute URL, or ports: a path is one of its first port')
  } else if (typeof url !== 'string' || !/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    refuse('ready.http', http, "a path like '/health', or an http URL")
  }
  const other = typeof http === 'string' ? undefined : Object.keys(http).find((key) => key !== 'url' && key !== 'status')
  if (other !== undefined) throw unknownMember(other, ['url', 'status'], ['ready', 'http'])
  const status = typeof http === 'string' ? undefined : http.status
  const isStatus = (value: unknown) => Number.isInteger(value)
  if (status !== undefined && ![status].flat().every(isStatus)) refuse('ready.http.status', status, 'a number, or a list of them')
}

/** @throws CUSTODY_INVALID_OPTION */
export function refuse(option: string, given: unknown, expected: string): never {
  throw refusal(option, given, expected)
}

/** The error for a wrong part of a specification. What was given stands in it as far as it is short. */
export function refusal(option: string, given: unknown, expected: string): CustodyError {
  return invalid(option, `${option} is ${given === undefined ? 'missing' : show(given)}`, `give ${expected}.`)
}

/** The error for a member that there is not. */
export function unknownMember(key: string, known: readonly string[], path: readonly string[] = []): CustodyError {
  const option = [...path, key].join('.')
  return invalid(option, `there is no option ${option}`, suggest(key, known, path))
}

function invalid(option: string, observed: string, hint: string): CustodyError {
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not start a runtime: ${observed}.`, {
    hint,
    facts: { option, observed },
  })
}

/**
 * Has what is wrong with something tell which it is.
 * @param beginning what could not be done, for people
 */
export function inTheNameOf<T>(beginning: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!hasCode(error, 'CUSTODY_INVALID_OPTION')) throw error
    const { facts, hint } = error as CustodyError
    if (typeof facts['observed'] !== 'string') throw error
    throw new CustodyError('CUSTODY_INVALID_OPTION', `${beginning}: ${facts['observed']}.`, { hint, facts })
  }
}
