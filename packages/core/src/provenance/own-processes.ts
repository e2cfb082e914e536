import type { Identity } from '@custody/runtime'
import { isSameIdentity, NAMESPACE_VARIABLE, ownIdentity } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import { type InitialVariable, platform } from '../platform/index.js'
import type { Role } from './evidence.js'

/** The run, as far as a proof needs it. */
export interface RunIdentity {
  readonly id: NamespaceId
  /** The runner's main process. */
  readonly runner: Identity
}

/**
 * Who of the test run itself a live process is. They are never targets, whatever they publish.
 * @param process one that the kernel has just shown to be alive and the same
 */
export function findRole(process: Identity, run: RunIdentity): Role | null {
  const own = ownIdentity()
  if (isSameIdentity(process, own)) return 'this process'
  if (isSameIdentity(process, run.runner)) return 'the runner'
  if (isAncestor(process.pid, own.pid)) return 'an ancestor'
  // A worker is the runner's own child, and unlike what tests start it is not marked.
  const isRunnersChild = platform.readProcess(process.pid)?.parent === run.runner.pid
  return isRunnersChild && !isMarked(process.pid, run.id) ? 'a worker' : null
}

/** Whether the kernel shows that a process was started inside of a scope. */
export function readBorn(pid: number, scope: NamespaceId): 'environment' | 'no' | 'unreadable' {
  const variable = platform.readInitialVariable(pid, NAMESPACE_VARIABLE)
  if (variable === 'unreadable') return 'unreadable'
  return isBornIn(scope, variable) ? 'environment' : 'no'
}

/** Whether the variable of a process names a scope, or one below it. */
export function isBornIn(scope: NamespaceId, variable: InitialVariable): boolean {
  if (typeof variable === 'string') return false
  return variable.value.startsWith(`${scope}:`) || variable.value.startsWith(`${scope}.`)
}

function isMarked(pid: number, run: NamespaceId): boolean {
  return readBorn(pid, run) === 'environment'
}

function isAncestor(pid: number, of: number): boolean {
  for (let at = platform.readProcess(of); at !== null && at.parent > 0; at = platform.readProcess(at.parent)) {
    if (at.parent === pid) return true
  }
  return false
}
