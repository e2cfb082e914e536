import { createHash, randomInt } from 'node:crypto'
import { URL } from 'node:url'
import { CustodyError } from '@custody/runtime/internals'
import { checkDefinition, type Definition, specOf, type Width } from '../launch/definition.js'
import { externalRuntime } from '../launch/external-runtime.js'
import { LogFile } from '../launch/log-file.js'
import { start } from '../launch/start.js'
import {
  type Launched,
  type Runtime,
  runtimeOf,
  type Shared,
  STOP_MARGIN_MS,
  type Started,
  withHiddenEnv,
} from '../launch/started-runtime.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { NeededRuntime, StartSpec } from '../options/start-spec.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { ShareAnswer, SharedRuntime } from '../supervisor/protocol.js'
import { placeOf } from './place-of.js'
import type { RunHandle } from './run-handle.js'
import { timeLimits } from './time-limits.js'
import { assertOutlives, widthOf } from './widths.js'

/** Who asks for shared runtimes: a scope, or the run itself. */
export interface Asker {
  readonly run: RunHandle
  readonly env: Readonly<Record<string, string | undefined>>
  lease(): Promise<SupervisorLink>
  /** The namespace that a shared runtime ends with. */
  ownerOf(width: Width): NamespaceId
  /** Called with each that it gets. */
  use(runtime: Started<string>, spec: StartSpec): void
}

/**
 * The shared runtime of a definition: started by whoever asks first, and here for everybody else. What it depends on comes first.
 *
 * @param chain the definitions that ask for this one, the first one first
 * @throws CUSTODY_INVALID_OPTION when something in it is wrong, when definitions depend on each other, or on what ends before them
 * @throws CUSTODY_SHARED_REFUSED when its start failed elsewhere, or its name has another definition
 * @throws CUSTODY_START_FAILED when it failed here
 */
export async function share<P extends string>(
  asker: Asker,
  definition: Definition<P>,
  chain: readonly Definition[] = [],
): Promise<Shared<P>> {
  const own = definition as unknown as Definition
  checkDefinition(own)
  if (chain.some((each) => isSame(each, own))) throw circle([...chain, own])
  const from = chain.at(-1)
  if (from !== undefined) assertOutlives(own, own.scope, from)

  const context = { shared: <Q extends string>(other: Definition<Q>) => share(asker, other, [...chain, own]) }
  const given = await specOf(definition, context)
  const readyMs = given.readyMs ?? timeLimits(asker.run.options).readyMs
  const { external, name, scope: width } = definition
  if (external !== undefined) {
    return externalRuntime(given, external, { cwd: asker.run.projectRoot, env: defined({ ...asker.env, ...given.env }), readyMs })
  }
  const needs = await Promise.all(
    (given.needs ?? []).map((need) => (isRuntime(need) ? need : context.shared(need as Definition))),
  )
  for (const need of needs) if (!isExternal(need)) assertOutlives(need, widthOf(need, asker.run.id), own)
  const spec = { ...given, needs: needs.filter((need) => !isExternal(need)) }

  const owner = asker.ownerOf(width)
  const key = `${owner} ${asker.run.project} ${name}`
  const link = await asker.lease()
  const answer = await link.call<ShareAnswer>('share', { key, fingerprint: fingerprintOf(spec) }, readyMs + STOP_MARGIN_MS)
  if (answer.role === 'refused') throw refused(name, answer.problem)
  const runtime =
    answer.role === 'guest'
      ? guestOf(asker.run, spec, link, answer.runtime)
      : await startFor(asker, { isKept: definition.keepAcrossReruns ?? false, key, owner, spec }, link)
  asker.use(runtime, spec as unknown as StartSpec)
  return withoutStop(runtime)
}

interface Start<P extends string> {
  readonly key: string
  readonly owner: NamespaceId
  readonly spec: StartSpec<P>
  readonly isKept: boolean
}

/** Starts it for all who ask, and tells them what came of it. */
async function startFor<P extends string>(
  { env, run }: Asker,
  { isKept, key, owner, spec }: Start<P>,
  link: SupervisorLink,
): Promise<Started<P>> {
  try {
    const id = `${owner}.r${randomInt(2 ** 47)}`
    const { signal } = new AbortController()
    const runtime = await start(spec, placeOf(run, link, { id, scope: owner, name: spec.name, env, signal, isKept }))
    await link.call('shared', { key, outcome: sharedOf(runtime) })
    return runtime
  } catch (error) {
    // Whoever waits for it is told; that this fails as well is no news for who started it.
    await link.call('shared', { key, outcome: { problem: (error as Error).message } }).catch(() => null)
    throw error
  }
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

function guestOf<P extends string>(run: RunHandle, spec: StartSpec<P>, link: SupervisorLink, shared: SharedRuntime): Runtime<P> {
  const { dir, env, groups, host = '127.0.0.1', id, identity, logs, match, ports } = shared
  const launched: Launched<P> = {
    ...{ id, name: spec.name, identity, dir, env, host, link },
    ports: ports as Readonly<Record<P, number>>,
    match:
      match &&
      (Object.assign([...match], { index: 0, input: match[0] ?? '', groups: groups ?? undefined }) as RegExpMatchArray | null),
    log: new LogFile(logs.stdout),
    graceMs: spec.graceMs ?? timeLimits(run.options).graceMs,
    isHidden: (spec.logs ?? run.options.logs) === 'never',
    exit: link.exitOf(id, spec.daemonizes),
    onStopped: () => {},
  }
  // Who shares a runtime does not restart it.
  return runtimeOf<P>(launched, () => Promise.resolve(launched))
}

/** Nobody stops alone what others use too. */
function withoutStop<P extends string>(runtime: Runtime<P>): Shared<P> {
  const { [Symbol.asyncDispose]: _dispose, restart: _restart, stop: _stop, ...shared } = runtime
  return withHiddenEnv({ ...shared, env: runtime.env })
}

/** What makes two definitions the same: all that is written in them. */
function fingerprintOf({ needs = [], ...spec }: Pick<StartSpec, 'needs'>): string {
  const text = JSON.stringify(
    { ...spec, needs: needs.map((need) => isRuntime(need) && need.instance) },
    (_key, value: unknown) =>
      typeof value === 'function' || value instanceof RegExp || value === undefined ? `${typeof value} ${value}` : value,
  )
  return createHash('sha256').update(text).digest('hex')
}

function isSame(a: Definition, b: Definition): boolean {
  return a.name === b.name && a.scope === b.scope
}

function isRuntime(need: object): need is NeededRuntime {
  return 'instance' in need
}

/** Whether it is one that Custody did not start: nothing waits for its end. */
export function isExternal(need: object): boolean {
  return (need as { isExternal?: boolean }).isExternal === true
}

function circle(chain: readonly Definition[]): CustodyError {
  const names = chain.map(({ name }) => `"${name}"`).join(' needs ')
  const [{ name } = { name: '' }] = chain.slice(-1)
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not share runtime "${name}": ${names}.`, {
    hint: 'take one of them out of the circle.',
    facts: { option: 'needs', names: chain.map((each) => each.name) },
  })
}

function refused(name: string, problem: string): CustodyError {
  return new CustodyError(
    'CUSTODY_SHARED_REFUSED',
    `Could not share runtime "${name}": ${problem.split('\nHint: ')[0]?.replace(/\.?$/, '.')}`,
    {
      hint: 'give each definition a name of its own, and have its spec give the same each time; or see why its start failed.',
      facts: { name, problem },
    },
  )
}

function defined(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
