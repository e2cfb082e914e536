import { join } from 'node:path'
import type { StartPlace } from '../launch/start.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { RunHandle } from './run-handle.js'
import { timeLimits } from './time-limits.js'

/** Where something is started in a run: its directory is one of its owner's. */
export function placeOf(
  { directory, id: runId, options, projectRoot: root, storage }: RunHandle,
  link: SupervisorLink,
  given: Pick<StartPlace, 'env' | 'id' | 'isKept' | 'scope' | 'signal'> & { readonly name: string },
): StartPlace {
  const { id, name, scope, ...rest } = given
  const { graceMs, readyMs } = timeLimits(options)
  const ownName = `${name.replace(/[^\w.-]/g, '_')}-${id.slice(id.lastIndexOf('.') + 1)}`
  return {
    ...rest,
    ...{ id, scope, runDirectory: directory, root, link, readyMs, graceMs, logs: options.logs, streamed: options.streamed },
    dir: join(storage, 'ns', scope.slice(runId.length + 1), ownName),
  }
}
