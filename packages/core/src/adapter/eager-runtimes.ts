import type { CustodyError } from '@custody/runtime/internals'
import type { Definition } from '../launch/definition.js'
import type { Runtime } from '../launch/started-runtime.js'
import { definitionOf } from '../options/plain-definition.js'
import type { StartSpec } from '../options/start-spec.js'
import type { RunHandle } from '../scope/run-handle.js'
import { exitedUnexpectedly } from '../scope/settle-started.js'
import { share } from '../scope/share.js'
import type { SupervisorLink } from '../supervisor/link.js'

/** The runtimes that were started before the first file. */
export class EagerRuntimes {
  readonly #link: SupervisorLink | null
  readonly #used: { readonly runtime: Runtime<string>; readonly spec: StartSpec }[] = []
  /** What stood in the environment before. */
  readonly #before = new Map<string, string | undefined>()
  readonly #told = new Set<string>()

  private constructor(link: SupervisorLink | null) {
    this.#link = link
  }

  /** Starts those that are eager, all at once, and tells the workers of them, which are started later, by the environment. */
  static async start(run: RunHandle, findLink: () => Promise<SupervisorLink>): Promise<EagerRuntimes> {
    const definitions = run.options.runtimes.filter(({ eager }) => eager).map((each) => definitionOf(each) as Definition)
    const eager = new EagerRuntimes(definitions.length > 0 ? await findLink() : null)
    const started = definitions.map(async (definition) => {
      const { name, url } = await share(
        {
          run,
          env: process.env,
          lease: findLink,
          ownerOf: () => `${run.id}.shared`,
          use: (runtime, spec) => void eager.#used.push({ runtime, spec }),
        },
        definition,
      )
      if (url !== '') eager.#tellWorkers(urlVariableOf(name), url)
    })
    try {
      await Promise.all(started)
    } catch (error) {
      // Those that are still starting end with the run.
      await Promise.allSettled(started)
      eager.forget()
      throw error
    }
    return eager
  }

  #tellWorkers(variable: string, url: string): void {
    this.#before.set(variable, process.env[variable])
    process.env[variable] = url
  }

  /** What is wrong with those that have exited by themselves, each told once. */
  findExits(): CustodyError[] {
    return this.#used.flatMap(({ runtime, spec }) => {
      const notice = this.#link?.peekExit(runtime.instance) ?? null
      const tail = () => (spec.logs === 'never' ? '' : runtime.log.tail(20))
      const error = exitedUnexpectedly({ ...spec, hasDaemonized: spec.daemonizes ?? false, tail }, notice, 'the run')
      if (error === null || this.#told.has(runtime.instance)) return []
      this.#told.add(runtime.instance)
      return error
    })
  }

  /** Gives the environment back as it was. */
  forget(): void {
    for (const [variable, value] of this.#before) {
      if (value === undefined) delete process.env[variable]
      else process.env[variable] = value
    }
    this.#before.clear()
  }
}

/** The variable that has the URL of an eager runtime. */
export function urlVariableOf(name: string): string {
  return `${name.toUpperCase().replace(/\W/g, '_')}_URL`
}
