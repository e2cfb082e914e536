import type { SpawnSite } from '../namespace/birth-state.js'
import type { TestAllowance } from '../options/options.js'
import type { Scope } from './scope.js'

/** A started runtime in the hands of a scope. */
export interface Use {
  readonly name: string
  readonly onExit: 'fail' | 'ignore'
  /** Whether it is what a command has left behind that exits with 0. */
  readonly hasDaemonized: boolean
  /** Milliseconds that it may take to obey. */
  readonly graceMs: number
  /** Whether its last lines are shown when the scope has failed. */
  readonly isShown: boolean
  /** Where it was asked for. */
  readonly site: SpawnSite
  /** The last lines of its output. */
  tail(): string
}

/** What a scope has; made with the first of it, as most tests have nothing. */
export class Holdings {
  /** Namespaces opened beside it; they end with it at the latest. */
  readonly siblings: Map<string, Scope> = new Map()
  /** Starts that are under way. What is not ready when the scope ends is stopped, and told. */
  readonly starting: Map<AbortController, Promise<unknown>> = new Map()
  /** The runtimes that it has started, or shares. */
  readonly uses: Map<string, Use> = new Map()
  /** What it has declared. */
  readonly allowances: TestAllowance[] = []

  /** Whether nothing here has to be settled. */
  get isEmpty(): boolean {
    return this.siblings.size === 0 && this.starting.size === 0 && this.uses.size === 0
  }
}
