// What a runner's worker loads before any user code: Node's built-ins only. Everything else waits until something was started.

import '@custody/runtime/clock'

export { CustodyError } from '@custody/runtime/errors'
export type { ExecOptions, ExecResult } from '../launch/exec.js'
export type { Ready, StartContext, StartSpec } from '../launch/start-spec.js'
export type { Runtime, RuntimeExit, RuntimeLog } from '../launch/started-runtime.js'
export {
  type Birth,
  type BirthState,
  birthState,
  type Cell,
  currentCell,
  enterCell,
  enterFile,
  markChildren,
  runInCell,
} from '../namespace/birth.js'
export type { Namespace } from '../namespace/namespace.js'
export type { Inspection } from '../provenance/inspection.js'
export type { Verdict } from '../provenance/judge.js'
export type { Receipt } from '../report/receipt.js'
export { withoutOurFrames } from '../report/stack-of-site.js'
export type { RunHandle } from '../scope/run-handle.js'
export { Scope, type Settlement } from '../scope/scope.js'
export type { Definition, Shared } from '../scope/start-in-scope.js'
export { withCallersEnv } from './callers-env.js'
export { type Custody, custody, defineRuntime, type OpenedNamespace, type ScopeMembers } from './custody.js'
