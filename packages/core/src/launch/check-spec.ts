import { CustodyError } from '@custody/runtime/internals'
import type { Logs, Ready, StartSpec } from '../options/start-spec.js'

const KEYS = 'name command shell cwd env ports ready readyMs needs stopSignal graceMs onExit daemonizes logs'.split(' ')
const LOGS: readonly unknown[] = ['on-failure', 'stream', 'never'] satisfies Logs[]

/** @throws CUSTODY_INVALID_OPTION which names what is wrong */
export function checkSpec(spec: StartSpec): void {
  if (typeof spec !== 'object' || spec === null) refuse('the specification', spec, 'an object with name and command')
  for (const [key, value] of Object.entries(spec)) if (!KEYS.includes(key)) refuse(key, value, `one of ${KEYS.join(', ')}`)
  const { command, name, ports = [], readyMs = 0, graceMs = 0, stopSignal = 'SIGTERM' } = spec
  if (typeof name !== 'string' || !/^[\w.@/-]{1,64}$/.test(name))
    refuse('name', name, '1 to 64 letters, digits or any of . _ @ / -')
  const isCommand =
    typeof command === 'string' ||
    typeof command === 'function' ||
    (Array.isArray(command) && command.length > 0 && command.every((part) => typeof part === 'string'))
  if (!isCommand || command === '') refuse('command', command, 'a list of program and arguments, a text, or a function')
  if (typeof command === 'string' && spec.shell !== true && /[|&;<>()$`\\"'*?~#\n]/.test(command)) {
    refuse('command', command, 'a list of program and arguments, or shell: true for what only a shell understands')
  }
  if (!Array.isArray(ports) || !ports.every((port) => /^[A-Za-z]\w*$/.test(port)))
    refuse('ports', ports, 'names of letters and digits')
  for (const [key, value] of Object.entries({ readyMs, graceMs })) {
    if (typeof value !== 'number' || !(value >= 0)) refuse(key, value, 'milliseconds, 0 or more')
  }
  if (!['SIGTERM', 'SIGINT', 'SIGQUIT'].includes(stopSignal)) refuse('stopSignal', stopSignal, 'SIGTERM, SIGINT or SIGQUIT')
  if (new Set(ports).size !== ports.length) refuse('ports', ports, 'each name once')
  const { logs = 'never', needs = [] } = spec
  if (!Array.isArray(needs) || !needs.every((need) => typeof need?.name === 'string')) {
    refuse('needs', '…', 'a list of runtimes, as start and shared return them, or of definitions')
  }
  if (!LOGS.includes(logs)) refuse('logs', logs, "'on-failure', 'stream' or 'never'")
  for (const ready of [spec.ready ?? []].flat()) checkReady(ready as Ready, ports)
}

function checkReady(ready: Ready, ports: readonly string[]): void {
  if (typeof ready !== 'object' || ready === null)
    refuse('ready', ready, "an object such as { log: 'listening' }, or a list of them")
  const kinds = ['log', 'port', 'http', 'file', 'socket', 'exec', 'locator'].filter((kind) => kind in ready)
  if (kinds.length !== 1) refuse('ready', ready, 'one of log, port, http, file, socket, exec, locator; several in a list')
  if ('http' in ready) checkHttp(ready.http, ports)
  if ('exec' in ready && !(Array.isArray(ready.exec) && typeof ready.exec[0] === 'string')) {
    refuse('ready.exec', ready.exec, 'a list of program and arguments')
  }
  if ('log' in ready && !(ready.count === undefined || (Number.isInteger(ready.count) && ready.count > 0))) {
    refuse('ready.count', ready.count, 'a whole number from 1 on')
  }
  if ('port' in ready && !ports.includes(ready.port))
    refuse('ready.port', ready.port, `one of its ports (${ports.join(', ') || 'it has none'})`)
}

function checkHttp(http: Extract<Ready, { http: unknown }>['http'], ports: readonly string[]): void {
  const url = typeof http === 'string' ? http : http?.url
  if (typeof url === 'string' && url.startsWith('/')) {
    if (ports.length === 0) refuse('ready.http', url, 'an absolute URL, or ports: a path is one of its first port')
  } else if (typeof url !== 'string' || !/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    refuse('ready.http', http, "a path like '/health', or an http URL")
  }
}

function refuse(option: string, given: unknown, expected: string): never {
  throw refusal(option, given, expected)
}

/** The error for a wrong part of a specification. What was given stands in it as far as it is short. */
export function refusal(option: string, given: unknown, expected: string): CustodyError {
  const shown = (JSON.stringify(given) ?? String(given)).slice(0, 200)
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not start a runtime: ${option} is ${shown}.`, {
    hint: `give ${expected}.`,
    facts: { option, expected },
  })
}
