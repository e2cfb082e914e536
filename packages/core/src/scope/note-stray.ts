import type { SpawnSite } from '../namespace/birth.js'
import { type StrayEvent, writeEvents } from '../report/events.js'
import { stackOfSite } from '../report/stack-of-site.js'
import { leakPolicyOf } from './leak-policy.js'
import type { RunHandle } from './run-handle.js'
import type { Scope } from './scope.js'

/** Writes down that code of a test has started something when its file had ended. */
export function noteStray(
  { directory }: RunHandle,
  { file, site, ...stray }: Pick<StrayEvent, 'by' | 'known' | 'namespace'> & { readonly site: SpawnSite; readonly file: Scope },
): void {
  writeEvents(directory, [{ type: 'stray', ...stray, stack: stackOfSite(site), isRed: leakPolicyOf(file) === 'fail' }])
}
