import { isMainThread } from 'node:worker_threads'
import { CustodyError, type RunHandle } from '@custody/core/worker'
import { tellUnknown } from './check-hooks.js'

/** Whether whatever a test starts leaves a trace here. In a thread of Deno `process.env` is not what children inherit. */
export const isTraced: boolean = isMainThread || !('deno' in process.versions)

/**
 * Says that Custody sees less here than elsewhere.
 * @throws CUSTODY_RUNNER_UNKNOWN where the options are strict
 */
export async function tellUntraced(run: RunHandle): Promise<void> {
  const error = new CustodyError(
    'CUSTODY_RUNNER_UNKNOWN',
    'Could not look at all that tests start: in threads of Deno, what spawnSync, execSync, execFileSync and Deno.Command leave is not found.',
    { hint: "use pool: 'forks'; see docs/compatibility.md.", facts: { pool: 'threads' } },
  )
  await tellUnknown(error, run)
}
