import type { Identity } from '@custody/runtime'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { FileId } from './file-id.js'

/** What shows that a process was born somewhere: evidence that the kernel has, and no file, name, port or user. */
export interface Birthmark {
  /** A start time that nothing born here is older than: the rest of the machine need not be looked at closely. */
  readonly since?: string
  /** Its initial environment carries this namespace or one below it. Programs overwrite it: absence proves nothing. Null for none. */
  readonly namespace: NamespaceId | null
  /** One of its descriptors writes to a file that Custody opened for it. Some programs close them, others keep them for their daemons. */
  readonly files: readonly FileId[]
  /** It is, or descends from, one of these, as long as they live. */
  readonly known: readonly Identity[]
  /** It is in this control group, or in one below it: only root could leave one. */
  readonly group?: string
  /** What was born of these is not meant, nor what descends from that. */
  readonly except?: readonly Birthmark[]
  /**
   * It is one of these orphans, which have come to this process: descendants of something that this process has started, but nobody
   * knows of what. So this is for the end of the run, never for a part of it.
   */
  readonly orphans?: () => readonly number[]
}

/** What shows that a process was born of a runtime: nothing of it is older than its first process. */
export function birthmarkOf(namespace: NamespaceId, files: readonly FileId[], first: Identity): Birthmark {
  return { namespace, files, known: first.start === null ? [] : [first], ...sinceOf(first) }
}

/** What shows that a process is one of these, or descends from one. */
export function markOfFamilies(known: readonly Identity[]): Birthmark {
  return { namespace: null, files: [], known }
}

export function sinceOf({ start }: Identity): Pick<Birthmark, 'since'> {
  return start === null ? {} : { since: start }
}
