import { CustodyError } from '@custody/runtime/internals'

/** What shows that a runtime is ready. */
export type Ready =
  /** Its output matches. Named groups are in `match` of the runtime; a group that is named like a port gives that port. */
  | { readonly log: RegExp | string; readonly count?: number; readonly stream?: 'stdout' | 'stderr' }
  /** It accepts connections on one of its ports. */
  | { readonly port: string }
  /** It answers 2xx or 3xx, or a status of the list, at a path of its URL, or at an absolute URL. */
  | { readonly http: string | { readonly url: string; readonly status?: number | readonly number[] } }
  /** A file is there. */
  | { readonly file: string }
  /** A Unix socket accepts connections. */
  | { readonly socket: string }
  /** A command exits with 0. */
  | { readonly exec: readonly [string, ...string[]] }
  /** Its locator is published, and its process proves to be born here. */
  | { readonly locator: string }

/** What to start. */
export interface StartSpec<P extends string = string> {
  /** For people, and for the names of its files. */
  readonly name: string
  /**
   * The program and its arguments. A text is split at spaces, without a shell. A function gets its ports and its directory.
   */
  readonly command: readonly [string, ...string[]] | string | ((given: StartContext<P>) => readonly string[])
  /** Whether a shell reads the command. @default false */
  readonly shell?: boolean
  /** @default the project's root */
  readonly cwd?: string
  /** On top of the test's own environment at the call; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Names of ports to reserve. Each is in the environment as `<NAME>_PORT`, and the first as PORT. */
  readonly ports?: readonly P[]
  /** What must hold before the start resolves: all of it. */
  readonly ready?: Ready | readonly Ready[]
  /** Milliseconds until it must be ready. @default timeouts.readyMs */
  readonly readyMs?: number
  /** What it needs: stopped after it. */
  readonly needs?: readonly { readonly instance: string }[]
  /** The polite signal. @default 'SIGTERM' */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT'
  /** Milliseconds that it may take to obey. @default timeouts.graceMs */
  readonly graceMs?: number
  /** What an exit that nobody asked for does to the tests that use it. @default 'fail' */
  readonly onExit?: 'fail' | 'ignore'
  /**
   * Whether the command leaves a daemon behind and exits with 0, like `pg_ctl start` or `redis-server --daemonize yes`. The daemon is
   * adopted by the evidence of the kernel, never by its PID file.
   * @default false
   */
  readonly daemonizes?: boolean
}

export interface StartContext<P extends string> {
  readonly ports: Readonly<Record<P, number>>
  /** A directory of its own, in that of its scope. */
  readonly dir: string
  readonly namespace: string
}

const KEYS = 'name command shell cwd env ports ready readyMs needs stopSignal graceMs onExit daemonizes'.split(' ')

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
  const { needs = [] } = spec
  if (!Array.isArray(needs) || !needs.every((need) => typeof need?.instance === 'string')) {
    refuse('needs', '…', 'a list of runtimes, as start and shared return them')
  }
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
