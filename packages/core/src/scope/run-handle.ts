import type { RunPlace } from '../namespace/namespace.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { ResolvedOptions } from '../options/options.js'
import type { RunIdentity } from '../provenance/own-processes.js'
import type { Level } from '../supervisor/means.js'

/** What a worker needs to know of its run: plain data. */
export interface RunHandle extends RunIdentity, RunPlace {
  readonly id: NamespaceId
  /** The run's root: files are named from here, whichever project they are of. */
  readonly root: string
  /** The project's: where commands run by default. */
  readonly projectRoot: string
  /** What tells a project from the others of the run. */
  readonly project: string
  /** The name of the project as its user has written it; empty where it has none. */
  readonly projectName: string
  /** The place of this worker in the runner's pool. */
  readonly slot: string
  /** The highest level of native code and control groups that is wanted. */
  readonly mostLevel: Level
  readonly options: ResolvedOptions
  /** Whether some leaks are known already; which ones stands in the run's directory. */
  readonly hasBaseline: boolean
}
