// What a runner's worker loads before any user code: Node's built-ins only. Everything else waits until something was started.

export { CustodyError } from '@custody/runtime/internals'
export type { ExecOptions, ExecResult } from '../launch/exec.js'
export { type Birth, type BirthState, birthState, type Cell, currentCell, enterFile, markChildren } from '../namespace/birth.js'
export type { Namespace } from '../namespace/namespace.js'
export type { Inspection } from '../provenance/inspection.js'
export type { Verdict } from '../provenance/judge.js'
export type { Receipt } from '../report/receipt.js'
export type { RunHandle } from '../scope/run-handle.js'
export { Scope, type Settlement } from '../scope/scope.js'
export { type Custody, custody, type OpenedNamespace, type ScopeMembers } from './custody.js'
