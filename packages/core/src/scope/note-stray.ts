import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SpawnSite } from '../namespace/birth-state.js'
import { writeEvents } from '../report/events.js'
import { stackOfSite } from '../report/stack-of-site.js'
import { endAfterRun } from './end-after-run.js'
import { leakPolicyOf } from './leak-policy.js'
import type { Scope } from './scope.js'

/** Writes down that code of a test has started something when its file had ended. */
export function noteStray(scope: Scope, site: SpawnSite): void {
  const { id: namespace, name: by, path: file, run, title: test } = scope
  const policy = leakPolicyOf(scope)
  if (policy === 'off') return
  // It goes with the run, also where something else is kept.
  if (!existsSync(join(run.directory, 'registry'))) return endAfterRun(scope, site, policy === 'fail')
  const signature = { project: run.projectName, file, test }
  const note = { type: 'stray', namespace, by, stack: stackOfSite(site), isRed: policy === 'fail', signature } as const
  writeEvents(run.directory, [note])
}
