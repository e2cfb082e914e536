import { CustodyError } from '@custody/runtime/internals'
import { checkSpec } from '../launch/check-spec.js'
import type { Definition } from '../launch/definition.js'
import { type StartPlace, start } from '../launch/start.js'
import type { Runtime, Shared, Started } from '../launch/started-runtime.js'
import type { SpawnSite } from '../namespace/birth-state.js'
import { definitionOf } from '../options/plain-definition.js'
import type { StartSpec } from '../options/start-spec.js'
import { assertOpen } from './assert-open.js'
import { namespaceOfWidth } from './namespace-of-width.js'
import { placeOf } from './place-of.js'
import type { Scope } from './scope.js'
import { type Asker, isExternal, share } from './share.js'
import { timeLimits } from './time-limits.js'

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
export async function startIn<P extends string>(scope: Scope, given: StartSpec<P>, call: Call): Promise<Runtime<P>> {
  checkSpec(given as unknown as StartSpec)
  const asker = askerOf(scope, call)
  const needs = (given.needs ?? []).map((need) => ('instance' in need ? need : share(asker, need as Definition)))
  const spec = { ...given, needs: (await Promise.all(needs)).filter((need) => !isExternal(need)) }
  const id = `${scope.id}.r${scope.nextNumber()}`
  const { env, signal } = call
  const runtime = await start(
    spec,
    placeOf(scope.run, await scope.lease(), { id, scope: scope.id, name: spec.name, env, signal }),
  )
  if (scope.kind === 'wide') await (await scope.lease()).call('announce', { id })
  return use(scope, runtime, call.site, spec as unknown as StartSpec)
}

/** The shared runtime of a definition, or of one of the option `runtimes`, in the hands of a scope. */
export function shareIn<P extends string>(scope: Scope, given: Definition<P> | string, call: CallPlace): Promise<Shared<P>> {
  const asker = askerOf(scope, call)
  if (typeof given !== 'string') return share(asker, given)
  // One for all projects of the run: they have the options in common.
  const run = { ...asker.run, project: '', projectRoot: asker.run.root }
  return share({ ...asker, run }, definitionNamed<P>(scope, given))
}

function definitionNamed<P extends string>({ run }: Scope, name: string): Definition<P> {
  const { runtimes } = run.options
  const found = runtimes.find((each) => each.name === name)
  if (found !== undefined) return definitionOf(found) as unknown as Definition<P>
  const names = runtimes.map((each) => `"${each.name}"`).join(', ')
  throw new CustodyError('CUSTODY_INVALID_OPTION', `Could not share runtime "${name}": the option runtimes does not have it.`, {
    hint: names === '' ? 'define it there, or give a definition.' : `it has ${names}.`,
    facts: { option: 'runtimes', name },
  })
}

function askerOf(scope: Scope, { env, site }: CallPlace): Asker {
  const { file, id, run } = scope
  return {
    run,
    env,
    lease: () => scope.lease(),
    ownerOf: (width) => (width === 'file' ? (file?.id ?? id) : namespaceOfWidth(run, width)),
    use: (runtime, spec) => void use(scope, runtime, site, spec),
  }
}

function use<R extends Started<string>>(scope: Scope, runtime: R, site: SpawnSite, spec: StartSpec): R {
  const { options } = scope.run
  const { daemonizes: hasDaemonized = false, graceMs = timeLimits(options).graceMs, name, onExit = 'fail' } = spec
  const { logs = options.logs } = spec
  const tail = () => (logs === 'never' ? '' : runtime.log.tail(20))
  const isShown = logs === 'on-failure' && !options.streamed.includes(name)
  const note = () => scope.use(runtime.instance, { graceMs, hasDaemonized, isShown, name, onExit, site, tail })
  note()
  const { restart } = runtime
  return Object.assign(runtime, {
    async restart() {
      assertOpen(scope, `restart runtime "${name}"`)
      await scope.whileStarting((signal) => restart(signal))
      note()
    },
  })
}
