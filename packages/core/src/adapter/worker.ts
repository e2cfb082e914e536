// What a runner's worker loads before any user code: Node's built-ins only. Everything else waits until something was started.

import '@custody/runtime/clock'

export { CustodyError } from '@custody/runtime/errors'
export type { Definition, DefinitionContext, Width } from '../launch/definition.js'
export type { ExecOptions, ExecResult } from '../launch/exec.js'
export type { Runtime, RuntimeExit, RuntimeLog, Shared } from '../launch/started-runtime.js'
export {
  type Birth,
  type BirthState,
  type BornChild,
  birthState,
  type Cell,
  currentCell,
  enterCell,
  enterFile,
  markChildren,
  noteCutShort,
  runInCell,
} from '../namespace/birth.js'
export type { Namespace } from '../namespace/namespace.js'
export type { LeakPolicy, TestAllowance } from '../options/options.js'
export type { Logs, Ready, StartContext, StartSpec } from '../options/start-spec.js'
export type { Inspection } from '../provenance/inspection.js'
export type { Verdict } from '../provenance/judge.js'
export { withoutOurFrames } from '../report/stack-of-site.js'
export type { Receipt } from '../retire/receipt.js'
export type { RunHandle } from '../scope/run-handle.js'
export { type FileNames, type RunnersVerdict, Scope, type Settlement } from '../scope/scope.js'
export { withCallersEnv } from './callers-env.js'
export { type Custody, custody, defineRuntime, type OpenedNamespace, type ScopeMembers } from './custody.js'
export { noteEarlySpawns } from './early-spawns.js'
export type { StartWidth } from './run-in-width.js'
export { warn } from './warn.js'
