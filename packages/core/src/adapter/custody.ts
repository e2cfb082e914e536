import { CustodyError, isCustodyError } from '@custody/runtime/errors'
import type { Definition } from '../launch/definition.js'
import type { ExecOptions, ExecResult } from '../launch/exec.js'
import type { Runtime, Shared } from '../launch/started-runtime.js'
import { captureSite } from '../namespace/be-born.js'
import type { SpawnSite } from '../namespace/birth-state.js'
import type { Namespace } from '../namespace/namespace.js'
import { checkAllowance, checkFileOptions } from '../options/check-allowance.js'
import type { LeakPolicy, TestAllowance } from '../options/options.js'
import type { StartSpec } from '../options/start-spec.js'
import type { Inspection } from '../provenance/inspection.js'
import { leadTo } from '../report/stack-of-site.js'
import type { Receipt } from '../retire/receipt.js'
import { assertOpen } from '../scope/assert-open.js'
import { lazily } from '../scope/lazily.js'
import type { Scope } from '../scope/scope.js'
import type { CallPlace } from '../scope/start-in-scope.js'
import { writeExemption } from '../supervisor/write-exemption.js'
import { callersEnv } from './callers-env.js'
import { currentScope } from './current-scope.js'
import { runInWidth, type StartWidth } from './run-in-width.js'

/** What one scope can do. */
export interface ScopeMembers {
  /**
   * Starts a runtime, and resolves when it is ready. It ends with this scope at the latest.
   * @throws CUSTODY_START_FAILED with exit code, signal, the addresses tried and the last lines of its output; everything is stopped then
   * @throws CUSTODY_INVALID_OPTION, CUSTODY_NO_PORT, CUSTODY_SUPERVISOR_UNREACHABLE, CUSTODY_SCOPE_ENDED
   */
  start<P extends string = never>(spec: StartSpec<P>): Promise<Runtime<P>>
  /**
   * The one shared runtime of a definition, or of one that the option `runtimes` has: started by whoever asks first. It ends with the
   * scope of its definition.
   * @throws CUSTODY_SHARED_REFUSED, and what `start` throws
   */
  shared<P extends string = never>(definition: Definition<P> | string): Promise<Shared<P>>
  /**
   * Runs a command to its end in this namespace: its home and its directory for temporary files are the namespace's own.
   * @throws CUSTODY_COMMAND_FAILED unless `reject` is false, CUSTODY_COMMAND_NOT_STARTED, CUSTODY_INVALID_OPTION, CUSTODY_SCOPE_ENDED
   */
  exec(file: string, args?: readonly string[], options?: ExecOptions): Promise<ExecResult>
  /** All runtimes of this scope that are published now, each with its verdict. */
  runtimes(): Promise<Inspection[]>
  /**
   * Judges one locator, without any effect.
   * @throws CUSTODY_LOCATOR_MISSING, CUSTODY_SCOPE_ENDED
   */
  inspect(locatorPath: string): Promise<Inspection>
  /**
   * Retires one runtime now, and resolves when its exit was observed.
   * @throws CUSTODY_NOT_OWNED, with the `inspection`, when it is not this scope's own: it goes on untouched
   * @throws CUSTODY_LOCATOR_MISSING, CUSTODY_SCOPE_ENDED, CUSTODY_SHUTDOWN_UNANSWERED, CUSTODY_EXIT_NOT_OBSERVED, CUSTODY_EXIT_UNOBSERVABLE
   */
  retire(locatorPath: string): Promise<Receipt>
}

/** A namespace beside that of the test. */
export interface OpenedNamespace extends Namespace, ScopeMembers, AsyncDisposable {
  /** Retires what is its own and removes its directory. @throws what made it fail */
  close(): Promise<Receipt[]>
}

/** The scope that is running: the test, or the file in beforeAll, afterAll and at the top level. */
export interface Custody extends ScopeMembers {
  readonly namespace: Namespace
  /**
   * Opens a second namespace beside this one. What belongs to one is foreign to the other. It ends with this scope at the latest.
   * @throws CUSTODY_NAMESPACE_TAKEN when this scope has opened one of that name already
   */
  openNamespace(name: string): OpenedNamespace
  /**
   * Declares a process, born in this scope, that may be alive when it is judged. It is listed at the end of the run. A name here spares,
   * it never selects.
   * @throws CUSTODY_INVALID_OPTION, CUSTODY_SCOPE_ENDED
   */
  allow(allowance: TestAllowance): void
  /**
   * Runs a function, and has what starts inside of it belong to the file, or end with the run: for what the first test starts that needs
   * it, and others use too. A worker is the place in the pool.
   * @throws CUSTODY_INVALID_OPTION, CUSTODY_SCOPE_ENDED
   */
  inScope<T>(width: StartWidth, run: () => T): T
  /**
   * Sets what happens to what the tests of this file leave. At its top level, or in its hooks for the whole file.
   * @throws CUSTODY_INVALID_OPTION
   */
  configure(options: { readonly leaks: LeakPolicy }): void
}

/** Checks the type of a definition, and gives it back: for a module of its own that several files import. */
export function defineRuntime<P extends string = never>(definition: Definition<P>): Definition<P> {
  return definition
}

/** The `custody` object: each member acts in the scope that runs at the call. */
export const custody: Custody = {
  get namespace() {
    return currentScope('read namespace').namespace
  },
  openNamespace(name) {
    const scope = currentScope('openNamespace')
    return asOpened(openSibling(scope.kind === 'wide' && scope.file !== null ? scope.file : scope, name))
  },
  allow(allowance) {
    const scope = currentScope('declare a process')
    declare(scope, askedSafely(scope, checkAllowance(allowance), captureSite(custody.allow)))
  },
  inScope(width, run) {
    return runInWidth(currentScope('start for a wider scope'), width, run)
  },
  configure(options) {
    const scope = currentScope('configure the file')
    const leaks = checkFileOptions(options)
    if (scope.kind !== 'file') throw notOfFile(scope)
    scope.books.leaks = leaks
  },
  ...membersOf((verb) => currentScope(verb)),
}

/** Marks an error that its test tells by itself. */
const TOLD: unique symbol = Symbol.for('@custody/told.1')

const loadStart = () => lazily('start-in-scope', () => import('../scope/start-in-scope.js'))
const loadExec = () => lazily('exec', () => import('../launch/exec.js'))
const loadInspect = () => lazily('inspect', () => import('../scope/inspect.js'))

function membersOf(scopeFor: (verb: string) => Scope): ScopeMembers {
  // Scope and environment are taken before the first await: afterwards the test may be over. Errors lead to the line of the call, not to ours.
  const act = <T>(verb: keyof ScopeMembers, body: (scope: Scope, call: CallPlace) => Promise<T>): Promise<T> => {
    // Below this, not below the member: the member calls it last, and Bun drops the frame of a tail call.
    const site = captureSite(act)
    const begin = async (): Promise<T> => {
      let scope: Scope | null = null
      try {
        scope = scopeFor(verb)
        return await body(scope, { env: callersEnv(), site })
      } catch (error) {
        if (isCustodyError(error)) leadTo(site, error)
        // The test has ended and says it itself: that nobody waits for it any more is no second error.
        if (scope?.isOver) {
          acting.catch(() => {})
          // Whoever stands between us and the test has a promise of its own.
          if (isCustodyError(error)) Object.defineProperty(error, TOLD, { value: true })
        }
        throw error
      }
    }
    const acting = begin()
    return acting
  }
  const members: ScopeMembers = {
    start: (spec) =>
      act('start', (scope, call) =>
        scope.whileStarting(async (signal) => {
          const { startIn } = await loadStart()
          return startIn(scope, spec, { ...call, signal })
        }),
      ),
    shared: (definition) =>
      act('shared', async (scope, call) => {
        const { shareIn } = await loadStart()
        return shareIn(scope, definition, call)
      }),
    exec: (file, args = [], options = {}) =>
      act('exec', (scope, call) =>
        scope.whileStarting(async (signal) => {
          const { exec } = await loadExec()
          const { namespace, run } = scope
          const env = { ...call.env, ...namespace.env }
          return exec(file, args, options, { root: run.projectRoot, env, signal, site: call.site })
        }),
      ),
    runtimes: () =>
      act('runtimes', async (scope) => {
        const { inspectAll } = await loadInspect()
        return inspectAll(scope)
      }),
    inspect: (locatorPath) =>
      act('inspect', async (scope) => {
        const { inspect } = await loadInspect()
        return inspect(scope, locatorPath)
      }),
    retire: (locatorPath) =>
      act('retire', async (scope) => {
        const { retireNow } = await loadInspect()
        return retireNow(scope, locatorPath)
      }),
  }
  return members
}

/** A function of a test that fails tells nothing, and the file says so: what it was asked about is judged as if it had not been declared. */
function askedSafely(scope: Scope, allowance: TestAllowance, site: SpawnSite): TestAllowance {
  const { match } = allowance
  if (typeof match !== 'function') return allowance
  const refuse = (problem: string) => {
    const error = new CustodyError(
      'CUSTODY_INVALID_OPTION',
      `Could not ask whether a process is declared in ${scope.name}: ${problem}.`,
      {
        hint: 'have the function that custody.allow is given as match tell it at once, by the words of a command line.',
        facts: { option: 'allow.match', scope: scope.name },
      },
    )
    leadTo(site, error)
    ;(scope.file ?? scope).noteFault(error)
    return false
  }
  const ask = (argv: readonly string[]): boolean => {
    try {
      const answer: unknown = match(argv)
      return typeof (answer as { then?: unknown } | null)?.then === 'function' ? refuse('match gave a promise') : Boolean(answer)
    } catch (error) {
      return refuse(`match failed: ${(error as Error | null)?.message ?? error}`)
    }
  }
  return { ...allowance, match: ask }
}

/** What tells by its words is also told to whoever ends the run: a worker may not live to say it. */
function declare(scope: Scope, allowance: TestAllowance): void {
  scope.allow(allowance)
  const { argv, reason, until } = allowance
  if (argv === undefined || until === 'run') return
  writeExemption(scope.run.directory, { type: 'allowed', scope: scope.id, allowance: { argv, reason, until } })
}

function notOfFile({ name }: Scope): CustodyError {
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not configure ${name}: only a whole file can be configured.`, {
    hint: 'call it at the top level of the file, or in beforeAll.',
    facts: { option: 'configure', scope: name },
  })
}

function openSibling(scope: Scope, name: string): Scope {
  if (!scope.siblings.has(name)) return scope.openSibling(name)
  throw new CustodyError(
    'CUSTODY_NAMESPACE_TAKEN',
    `Could not open the namespace "${name}" in ${scope.name}: it is open already.`,
    {
      hint: 'use the one that the first call returned, or another name.',
      facts: { name, scope: scope.name },
    },
  )
}

function asOpened(sibling: Scope): OpenedNamespace {
  const { namespace } = sibling
  const close = async () => {
    const { failures, receipts } = await sibling.settle({ hasFailed: false })
    if (failures.length === 1) throw failures[0]
    if (failures.length > 1) throw new AggregateError(failures, `Could not close the namespace ${sibling.name}.`)
    return [...receipts]
  }
  return {
    get id() {
      return namespace.id
    },
    get dir() {
      return namespace.dir
    },
    get home() {
      return namespace.home
    },
    get tmp() {
      return namespace.tmp
    },
    get env() {
      return namespace.env
    },
    ...membersOf((verb) => assertOpen(sibling, verb)),
    close,
    async [Symbol.asyncDispose]() {
      await close()
    },
  }
}
