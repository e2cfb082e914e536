// What a test imports. It runs inside of the test's realm, where timers, modules and globals may be the test's own: so it needs none,
// imports nothing, and asks for the bridge at each call. It only tells what the test has made of `process.env`.
import type { Custody, Definition, Namespace, OpenedNamespace, Runtime, ScopeMembers, Shared } from '@custody/core/worker' with {
  'resolution-mode': 'import',
}
import type { Bridge } from './bridge.js' with { 'resolution-mode': 'import' }

export type { Allowance, CustodyOptions, LeakOverride, Policy } from '@custody/core' with { 'resolution-mode': 'import' }
export type {
  DefinitionContext,
  ExecOptions,
  ExecResult,
  Inspection,
  LeakPolicy,
  Logs,
  Ready,
  Receipt,
  RuntimeExit,
  RuntimeLog,
  StartContext,
  StartSpec,
  StartWidth,
  TestAllowance,
  Verdict,
} from '@custody/core/worker' with { 'resolution-mode': 'import' }
export type { Custody, Definition, Namespace, OpenedNamespace, Runtime, ScopeMembers, Shared }

const KEY = Symbol.for('@custody/jest')
/** On an error that its test tells by itself: see the core. */
const TOLD = Symbol.for('@custody/told.1')
const HINT =
  "wrap the configuration with withCustody from '@custody/jest/config'. For what a global setup starts there is the option runtimes, with eager: true."

/** As they are when this is loaded: a test may spy on them. */
const { parse, stringify } = JSON

/** An error of Custody, made in the test's own realm. Recognise it by its `code`: after `jest.resetModules()` the class is another. */
export class CustodyError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly facts: Readonly<Record<string, unknown>>

  constructor(message: string, code: string, hint?: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = 'CustodyError'
    this.code = code
    this.hint = hint
    this.facts = facts
  }
}

/** The current scope: the running test, or the file in beforeAll, afterAll and at the top level. */
export const custody: Custody = {
  get namespace(): Namespace {
    return inside(() => namespaceOf(bridge().namespace))
  },
  openNamespace(name) {
    return inside(() => openedOf(bridge().openNamespace(name)))
  },
  allow: (allowance) => inside(() => bridge().allow(allowance)),
  inScope: (width, run) => {
    // What it throws is the test's own: it is not made anew.
    let outcome: { value: ReturnType<typeof run> } | { error: unknown } | undefined
    inside(() =>
      bridge().inScope(width, () => {
        try {
          outcome = { value: run() as ReturnType<typeof run> }
        } catch (error) {
          outcome = { error }
        }
      }),
    )
    if (outcome === undefined || 'error' in outcome) throw outcome?.error
    return outcome.value
  },
  configure: (options) => inside(() => bridge().configure(options)),
  ...membersOf(() => bridge()),
}

function bridge(): Bridge {
  const found = (globalThis as unknown as Record<symbol, Bridge | undefined>)[KEY]
  if (found !== undefined) return found
  throw new CustodyError(
    `Could not reach Custody: this is no test file, or one that does not run under it.\nHint: ${HINT}`,
    'CUSTODY_NOT_SET_UP',
    HINT,
  )
}

function membersOf(outer: () => ScopeMembers): ScopeMembers {
  return {
    start: (spec) => guard(async () => runtimeOf(await inTestsEnv(() => outer().start(spec)))),
    shared: (definition) => guard(async () => sharedOf(await inTestsEnv(() => outer().shared(definition)))),
    exec: (file, args, options) => wrap(() => inTestsEnv(() => outer().exec(file, args, options))),
    runtimes: () => wrap(() => outer().runtimes()),
    inspect: (path) => wrap(() => outer().inspect(path)),
    retire: (path) => wrap(() => outer().retire(path)),
  }
}

function inTestsEnv<T>(call: () => T): T {
  // A test may have put something else in the place of `process`: then the worker's own environment holds.
  return bridge().withEnv((globalThis.process as NodeJS.Process | undefined)?.env ?? null, call)
}

function openedOf(outer: OpenedNamespace): OpenedNamespace {
  const close = () => wrap(() => outer.close())
  return {
    ...namespaceOf(outer),
    ...membersOf(() => outer),
    close,
    ...disposedBy(close),
  }
}

/** On Node before 24 the realm of a test may not have the symbol. */
function disposedBy(end: () => Promise<unknown>): AsyncDisposable {
  if (Symbol.asyncDispose === undefined) return {} as AsyncDisposable
  return { [Symbol.asyncDispose]: () => end().then(() => undefined) }
}

function namespaceOf(outer: Namespace): Namespace {
  const { dir, env, home, id, tmp } = outer
  return { id, dir, home, tmp, env: { ...env } }
}

/** Checks the type of a definition, and gives it back: for a module of its own that several files import. */
export function defineRuntime<P extends string = never>(definition: Definition<P>): Definition<P> {
  return definition
}

function runtimeOf<P extends string>(outer: Runtime<P>): Runtime<P> {
  const stop = () => wrap(() => outer.stop())
  return Object.defineProperties(
    { stop, restart: () => guard(() => outer.restart()), ...disposedBy(stop) },
    Object.getOwnPropertyDescriptors(sharedOf(outer)),
  ) as unknown as Runtime<P>
}

function sharedOf<P extends string>(outer: Shared<P>): Shared<P> {
  const { log } = outer
  const shared: Omit<Shared<P>, 'env'> = {
    get name() {
      return outer.name
    },
    get isExternal() {
      return outer.isExternal
    },
    get pid() {
      return inside(() => outer.pid)
    },
    get instance() {
      return outer.instance
    },
    get url() {
      return outer.url
    },
    get dir() {
      return outer.dir
    },
    get identity() {
      return inside(() => ({ ...outer.identity }))
    },
    get ports() {
      return { ...outer.ports }
    },
    get match() {
      return outer.match && matchOf(outer.match)
    },
    get exited() {
      return wrap(() => outer.exited)
    },
    log: {
      get path() {
        return log.path
      },
      text: () => log.text(),
      tail: (lines) => log.tail(lines),
      waitFor: (pattern, options) => guard(async () => matchOf(await log.waitFor(pattern, options))),
    },
    pause: () => wrap(() => outer.pause()),
    resume: () => wrap(() => outer.resume()),
    kill: (signal) => wrap(() => outer.kill(signal)),
    crash: () => wrap(() => outer.crash()),
  }
  // Not enumerable: a failed matcher would print all of it.
  return Object.defineProperty(shared, 'env', { get: () => ({ ...outer.env }) }) as Shared<P>
}

function matchOf(match: RegExpMatchArray): RegExpMatchArray {
  return Object.assign([...match], { index: match.index, groups: match.groups && { ...match.groups } }) as RegExpMatchArray
}

/** A promise of another realm fails the test's matchers, and so do its errors: both are made anew here. */
function guard<T>(call: () => Promise<T>): Promise<T> {
  const begin = async (): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      // That nobody waits for it any more is no second error.
      if ((error as Record<symbol, unknown> | null)?.[TOLD] === true) promise.catch(() => {})
      throw own(error)
    }
  }
  const promise = begin()
  return promise
}

/** The same for a result that is plain data. */
function wrap<T>(call: () => Promise<T>): Promise<T> {
  return guard(async () => {
    const value = await call()
    return value === undefined ? value : (parse(stringify(value)) as T)
  })
}

function inside<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw own(error)
  }
}

function own(error: unknown): unknown {
  const { code, facts, hint, inspection, message, stack } = (error ?? {}) as Partial<CustodyError> & { inspection?: unknown }
  if (error instanceof CustodyError || typeof code !== 'string' || typeof message !== 'string') return error
  const mine = new CustodyError(message, code, hint, parse(stringify(facts ?? {})) as Record<string, unknown>)
  if (typeof stack === 'string') mine.stack = stack
  if (inspection !== undefined) Object.assign(mine, { inspection: parse(stringify(inspection)) })
  return mine
}
