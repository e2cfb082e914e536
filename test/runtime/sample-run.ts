import { ownIdentity } from '@custody/runtime/internals'
import { newRunId } from '../../packages/core/src/namespace/namespace-id.js'
import { parseOptions } from '../../packages/core/src/options/parse-options.js'
import type { RunHandle } from '../../packages/core/src/scope/run-handle.js'

/** A run that this process may settle by itself, with whatever a test needs otherwise. */
export function sampleRun(directory: string, changes: Partial<RunHandle> = {}): RunHandle {
  return {
    id: newRunId(null),
    directory,
    storage: directory,
    root: '/',
    projectRoot: '/',
    project: '',
    projectName: '',
    slot: '0',
    mostLevel: 0,
    hasBaseline: false,
    runner: ownIdentity(),
    options: parseOptions({}, {}),
    ...changes,
  }
}
