import type { NamespaceId } from '../namespace/namespace-id.js'
import type { RunHandle } from './run-handle.js'

/** The namespace of what is wider than a file, and ends with the run. */
export function namespaceOfWidth({ id, slot }: Pick<RunHandle, 'id' | 'slot'>, width: 'worker' | 'run'): NamespaceId {
  // The pool slot outlives a worker's process, and belongs to the run.
  return width === 'worker' ? `${id}.w${slot}` : `${id}.shared`
}
