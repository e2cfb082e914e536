import { createHash, randomInt } from 'node:crypto'
import { join } from 'node:path'
import { CustodyError } from '@custody/runtime/internals'
import { LogFile } from '../launch/log-file.js'
import { type StartPlace, start } from '../launch/start.js'
import { checkSpec, type StartSpec } from '../launch/start-spec.js'
import { type Launched, type Runtime, runtimeOf, STOP_MARGIN_MS } from '../launch/started-runtime.js'
import type { SpawnSite } from '../namespace/birth.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { ShareAnswer, SharedRuntime } from '../supervisor/protocol.js'
import type { Scope } from './scope.js'
import { timeLimits } from './time-limits.js'

/** A runtime for several tests: one of its name in its scope. */
export interface Definition<P extends string = string> extends StartSpec<P> {
  readonly scope: 'file' | 'worker' | 'run'
}

/** A runtime that others use too: nobody stops it alone. */
export type Shared<P extends string = string> = Omit<Runtime<P>, 'stop' | 'restart' | typeof Symbol.asyncDispose>

/** Where a runtime was asked for, and in which environment. */
export interface CallPlace {
  readonly site: SpawnSite
  readonly env: StartPlace['env']
}

/** The same, and what ends the wait for it. */
export interface Call extends CallPlace {
  readonly signal: AbortSignal
}

/** Starts a runtime that ends with the scope. */
export async function startIn<P extends string>(
  scope: Scope,
  spec: StartSpec<P>,
  { env, signal, site }: Call,
): Promise<Runtime<P>> {
  checkSpec(spec as unknown as StartSpec)
  const id = `${scope.id}.r${scope.nextNumber()}`
  const link = await scope.lease()
  const runtime = await start(spec, placeOf(scope, link, { id, scope: scope.id, name: spec.name, env, signal }))
  return use(scope, runtime, site, spec as unknown as StartSpec)
}

/**
 * The shared runtime of a definition: started by whoever asks first, and here for everybody else.
 * @throws CUSTODY_SHARED_REFUSED when its start failed elsewhere, or its name has another definition
 * @throws CUSTODY_START_FAILED when it failed here
 */
export async function shareIn<P extends string>(
  scope: Scope,
  definition: Definition<P>,
  { env, site }: CallPlace,
): Promise<Shared<P>> {
  const { scope: width, ...spec } = definition ?? {}
  checkSpec(spec as unknown as StartSpec)
  if (!WIDTHS.includes(width)) throw wrongScope(definition.name, width)
  const owner = ownerOf(scope, width)
  const key = `${owner} ${scope.run.project} ${definition.name}`
  const link = await scope.lease()
  const waitMs = (definition.readyMs ?? timeLimits(scope.run.options).readyMs) + STOP_MARGIN_MS
  const answer = await link.call<ShareAnswer>('share', { key, fingerprint: fingerprintOf(spec) }, waitMs)
  if (answer.role === 'refused') throw refused(definition.name, answer.problem)
  if (answer.role === 'guest') {
    const runtime = guest(scope, spec as unknown as StartSpec<P>, link, answer.runtime)
    return withoutStop(use(scope, runtime, site, spec as unknown as StartSpec))
  }
  try {
    const id = `${owner}.r${randomInt(2 ** 47)}`
    const { signal } = new AbortController()
    const runtime = await start(
      spec as unknown as StartSpec<P>,
      placeOf(scope, link, { id, scope: owner, name: spec.name, env, signal }),
    )
    await link.call('shared', { key, outcome: sharedOf(runtime) })
    return withoutStop(use(scope, runtime, site, spec as unknown as StartSpec))
  } catch (error) {
    // Whoever waits for it is told; that this fails as well is no news for who started it.
    await link.call('shared', { key, outcome: { problem: (error as Error).message } }).catch(() => null)
    throw error
  }
}

const WIDTHS: readonly unknown[] = ['file', 'worker', 'run'] satisfies Definition['scope'][]

function wrongScope(name: string, given: unknown): CustodyError {
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not share runtime "${name}": scope is ${JSON.stringify(given)}.`, {
    hint: "give 'file', 'worker' or 'run'.",
    facts: { option: 'scope' },
  })
}

/** The namespace that a shared runtime ends with. The pool slot outlives a worker's process, and belongs to the run. */
function ownerOf({ file, id, run }: Scope, width: Definition['scope']): string {
  if (width === 'file') return file?.id ?? id
  return width === 'worker' ? `${run.id}.w${run.slot}` : `${run.id}.shared`
}

function placeOf(
  scope: Scope,
  link: SupervisorLink,
  { env, id, name, scope: owner, signal }: Pick<StartPlace, 'env' | 'id' | 'scope' | 'signal'> & { name: string },
): StartPlace {
  const { options, root, storage } = scope.run
  const { graceMs, readyMs } = timeLimits(options)
  const dir = join(
    storage,
    'ns',
    owner.slice(scope.run.id.length + 1),
    `${name.replace(/[^\w.-]/g, '_')}-${id.slice(id.lastIndexOf('.') + 1)}`,
  )
  return { id, scope: owner, runDirectory: scope.run.directory, dir, root, env, link, readyMs, graceMs, signal }
}

function use<R extends Runtime<string>>(scope: Scope, runtime: R, site: SpawnSite, spec: StartSpec): R {
  const { daemonizes: hasDaemonized = false, graceMs = timeLimits(scope.run.options).graceMs, name, onExit = 'fail' } = spec
  const tail = () => runtime.log.tail(20)
  const note = () => scope.uses.set(runtime.instance, { graceMs, hasDaemonized, name, onExit, site, tail })
  note()
  const { restart } = runtime
  return Object.assign(runtime, {
    async restart() {
      await restart()
      note()
    },
  })
}

function sharedOf(runtime: Runtime<string>): SharedRuntime {
  const { dir, env, identity, instance, log, match, ports, url } = runtime
  return {
    ...(url !== '' && { host: new URL(url).hostname.replace(/[[\]]/g, '') }),
    id: instance,
    identity,
    dir,
    env,
    logs: { stdout: log.path, stderr: log.path },
    ports,
    match: match && [...match],
    groups: match?.groups ?? null,
  }
}

function guest<P extends string>(scope: Scope, spec: StartSpec<P>, link: SupervisorLink, shared: SharedRuntime): Runtime<P> {
  const { dir, env, groups, host = '127.0.0.1', id, identity, logs, match, ports } = shared
  const launched: Launched<P> = {
    ...{ id, name: spec.name, identity, dir, env, host, link },
    ports: ports as Readonly<Record<P, number>>,
    match:
      match &&
      (Object.assign([...match], { index: 0, input: match[0] ?? '', groups: groups ?? undefined }) as RegExpMatchArray | null),
    log: new LogFile(logs.stdout),
    graceMs: spec.graceMs ?? timeLimits(scope.run.options).graceMs,
    exit: link.exitOf(id),
    onStopped: () => {},
  }
  // Who shares a runtime does not restart it.
  return runtimeOf<P>(launched, () => Promise.resolve(launched))
}

/** Nobody stops alone what others use too. */
function withoutStop<P extends string>({
  [Symbol.asyncDispose]: _dispose,
  restart: _restart,
  stop: _stop,
  ...shared
}: Runtime<P>): Shared<P> {
  return shared
}

/** What makes two definitions the same: all that is written in them. */
function fingerprintOf({ needs = [], ...spec }: Pick<StartSpec, 'needs'>): string {
  const text = JSON.stringify({ ...spec, needs: needs.map(({ instance }) => instance) }, (_key, value: unknown) =>
    typeof value === 'function' || value instanceof RegExp ? String(value) : value,
  )
  return createHash('sha256').update(text).digest('hex')
}

function refused(name: string, problem: string): CustodyError {
  return new CustodyError('CUSTODY_SHARED_REFUSED', `Could not share runtime "${name}": ${problem}`, {
    hint: 'give each definition a name of its own, or see why its start failed.',
    facts: { name, problem },
  })
}
