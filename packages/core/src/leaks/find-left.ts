import type { Identity } from '@custody/runtime'
import { isInScope, NAMESPACE_VARIABLE, ownIdentity } from '@custody/runtime/internals'
import type { Birth, BornChild, SpawnSite } from '../namespace/birth-state.js'
import { mayBeAlive } from '../namespace/born-children.js'
import { isOfRuntime, type NamespaceId } from '../namespace/namespace-id.js'
import { platform } from '../platform/index.js'
import { sinceOf } from '../tree/birthmark.js'
import { findBornHere } from '../tree/find-born-here.js'
import { ProcessTable } from '../tree/process-table.js'
import type { SignalProof } from '../witness/witness.js'

/** A process that is still alive, and that nobody of its own has started: with those that it has started. */
export interface Left {
  readonly identity: Identity
  /** What shows that it was born there. */
  readonly proof: SignalProof
  readonly command: readonly string[]
  /** Where it was born. */
  readonly namespace: NamespaceId
  /** The line that started it, where it was started by the thread that looks. */
  readonly site: SpawnSite | null
  /** Whether code of a test started it that had ended by then. */
  readonly isLate: boolean
  /** Whether it was sent a signal by the object that its starter has of it, and has not left yet. */
  readonly isSignalled: boolean
  /** Whether it is to end with its worker: one that its starter does not wait for, and that is in no session of its own. */
  readonly isOfWorker: boolean
  readonly descendants: readonly Identity[]
}

/**
 * What is left alive of a scope and of those below it: its own children, and whoever else the kernel shows to be born there. What
 * Custody has started for it is not meant.
 * @param births those of the scope whose children this thread has started
 * @param runner the runner's main process: nothing of its run is older
 */
export function findLeft(scope: NamespaceId, births: readonly Pick<Birth, 'id' | 'children'>[], runner: Identity): Left[] {
  const children = births.flatMap(({ children, id: namespace }) =>
    children.flatMap((child) => {
      const identity = identityOf(child)
      return identity === null ? [] : [{ child, identity, namespace }]
    }),
  )
  const table = new ProcessTable()
  const mark = { namespace: scope, files: [], known: children.map(({ identity }) => identity), ...sinceOf(runner) }
  const proofs = new Map<number, SignalProof>()
  const born = findBornHere(mark, [runner], { table, onFound: ({ pid }, proof) => proofs.set(pid, proof) })
  const found = new Map(born.map((identity) => [identity.pid, identity]))

  const parentOf = (pid: number) => table.byPid.get(pid)?.parent ?? 0
  const childOf = (pid: number) => children.find(({ identity }) => identity.pid === pid)
  const namespaceOf = (pid: number): NamespaceId => {
    const variable = table.namespaceOf(pid)
    const id = typeof variable === 'string' ? '' : (variable.value.split(':')[0] ?? '')
    if (isInScope(id, scope)) return id
    const child = childOf(pid)
    if (child !== undefined) return child.namespace
    return found.has(parentOf(pid)) ? namespaceOf(parentOf(pid)) : scope
  }
  const rootOf = (pid: number): number => (found.has(parentOf(pid)) ? rootOf(parentOf(pid)) : pid)

  const roots = [...found.values()].filter(({ pid }) => rootOf(pid) === pid && !isOfRuntime(namespaceOf(pid)))
  return roots.map((identity) => {
    const child = childOf(identity.pid)?.child ?? null
    return {
      identity,
      proof: proofs.get(identity.pid) as SignalProof,
      command: platform.readCommand(identity.pid),
      namespace: namespaceOf(identity.pid),
      site: child?.site ?? null,
      isLate: child?.isLate ?? false,
      isSignalled: child?.process.killed === true,
      isOfWorker: child !== null && !child.isDetached && !isWaitedFor(child),
      descendants: [...found.values()].filter(({ pid }) => pid !== identity.pid && rootOf(pid) === identity.pid),
    }
  })
}

/**
 * The identity of a child that has not been reaped: its number is its own until then. Null for one that has exited, and for one that the
 * kernel does not show as a child of this process, whatever a test has made of the object.
 */
function identityOf({ pid, process: child }: BornChild): Identity | null {
  if (pid === null || !mayBeAlive(child) || isOptedOut(pid)) return null
  const entry = platform.readProcess(pid)
  if (entry === null || entry.parent !== process.pid) return null
  const { boot, pidns, timens } = ownIdentity()
  return { pid, start: entry.start, boot, pidns, timens }
}

/** A child whose environment says so is nobody's. */
function isOptedOut(pid: number): boolean {
  const variable = platform.readInitialVariable(pid, NAMESPACE_VARIABLE)
  return typeof variable !== 'string' && variable.value === ''
}

/** Whether its starter's event loop waits for it. */
function isWaitedFor({ hasRef, process }: BornChild): boolean {
  if (hasRef !== undefined) return hasRef()
  const { _handle: handle } = process as unknown as { _handle?: { hasRef?(): boolean } | null }
  return handle?.hasRef?.() !== false
}

/** A process and all that descends from it. */
export function familyOf({ descendants, identity }: Pick<Left, 'descendants' | 'identity'>): Identity[] {
  return [identity, ...descendants]
}
