import { URL } from 'node:url'
import type { StartSpec } from '../options/start-spec.js'
import { checkSpec, inTheNameOf, refusal } from './check-spec.js'
import type { Shared } from './started-runtime.js'

/** How many share a runtime: the tests of a file, the files of a place in the runner's pool, or all of the run. */
export type Width = 'file' | 'worker' | 'run'

interface Traits {
  /** For people, and what makes it the same runtime wherever it is asked for: there is one of a name in its scope. */
  readonly name: string
  /** What it ends with. */
  readonly scope: Width
  /**
   * Whether it goes on from one run to the next in watch mode. It ends with the runner at the latest.
   * @default false
   */
  readonly keepAcrossReruns?: boolean
  /**
   * The URL of one that runs already, as of a service in CI. With it nothing is started and nothing is stopped; what must hold before it
   * is ready is waited for all the same.
   */
  readonly external?: string | undefined
}

/** What a definition is given that depends on others. */
export interface DefinitionContext {
  /** Another shared runtime. Name it among the `needs` as well, so that it is stopped later. */
  shared<P extends string = never>(definition: Definition<P>): Promise<Shared<P>>
}

type Rest<P extends string> = Omit<StartSpec<P>, 'name'>

/** A runtime for several tests: one of its name in its scope, started by whoever asks first. */
export type Definition<P extends string = string> = Traits &
  (
    | Rest<P>
    /**
     * What to start depends on others. It is called by everybody who asks for the runtime, and has to give the same each time.
     */
    | { readonly spec: (context: DefinitionContext) => Rest<P> | Promise<Rest<P>> }
  )

const WIDTHS: readonly unknown[] = ['file', 'worker', 'run'] satisfies Width[]

/** @throws CUSTODY_INVALID_OPTION which names what is wrong */
export function checkDefinition(definition: Definition): void {
  const { name } = (definition ?? {}) as { name?: unknown }
  const which = typeof name === 'string' ? `runtime "${name}"` : 'a runtime'
  inTheNameOf(`Could not share ${which}`, () => checkTraits(definition))
}

function checkTraits(definition: Definition): void {
  const { external, keepAcrossReruns = false, scope, ...rest } = definition ?? {}
  if ('spec' in rest) {
    const { name, spec, ...others } = rest
    if (typeof spec !== 'function') throw refusal('spec', spec, 'a function that returns what to start')
    const [[key, value] = []] = Object.entries(others)
    if (key !== undefined) throw refusal(key, value, 'it in what the function of spec returns')
    checkSpec({ name, command: ['-'] })
  } else checkSpec(rest)
  if (!WIDTHS.includes(scope)) throw refusal('scope', scope, "'file', 'worker' or 'run'")
  if (typeof keepAcrossReruns !== 'boolean') throw refusal('keepAcrossReruns', keepAcrossReruns, 'true or false')
  if (keepAcrossReruns && scope !== 'run') throw refusal('keepAcrossReruns', keepAcrossReruns, "it with scope: 'run'")
  if (external !== undefined && !isServiceUrl(external)) {
    throw refusal('external', external, "a URL with host and port, as 'http://localhost:8080' or 'redis://localhost:6379'")
  }
}

/** Whether it says where something listens. */
function isServiceUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { host, port, protocol } = new URL(value)
  return host !== '' && (port !== '' || protocol === 'http:' || protocol === 'https:')
}

/** What to start. @throws CUSTODY_INVALID_OPTION, and what the definition's own function throws */
export async function specOf<P extends string>(definition: Definition<P>, context: DefinitionContext): Promise<StartSpec<P>> {
  const { external: _, keepAcrossReruns: __, name, scope: ___, ...rest } = definition
  if (!('spec' in rest)) return { ...rest, name }
  const spec = { ...(await rest.spec(context)), name }
  checkSpec(spec as unknown as StartSpec)
  return spec
}
