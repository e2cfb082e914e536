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
  readonly #variables: string[] = []

  private constructor(link: SupervisorLink | null) {
    this.#link = link
  }

  /** Starts those that are eager, all at once, and tells the workers of them, which are started later, by the environment. */
  static async start(run: RunHandle, findLink: () => Promise<SupervisorLink>): Promise<EagerRuntimes> {
    const definitions = run.options.runtimes.filter(({ eager }) => eager).map((each) => definitionOf(each) as Definition)
    const eager = new EagerRuntimes(definitions.length > 0 ? await findLink() : null)
    await Promise.all(
      definitions.map(async (definition) => {
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
        const variable = `${name.toUpperCase().replace(/\W/g, '_')}_URL`
        process.env[variable] = url
        eager.#variables.push(variable)
      }),
    )
    return eager
  }

  /** What is wrong with those that have exited by themselves. */
  findExits(): CustodyError[] {
    return this.#used.flatMap(({ runtime, spec }) => {
      const notice = this.#link?.peekExit(runtime.instance) ?? null
      const use = { ...spec, hasDaemonized: spec.daemonizes ?? false, tail: () => runtime.log.tail(20) }
      return exitedUnexpectedly(use, notice, 'the run') ?? []
    })
  }

  /** Takes their variables out of the environment. */
  forget(): void {
    for (const variable of this.#variables) delete process.env[variable]
  }
}
