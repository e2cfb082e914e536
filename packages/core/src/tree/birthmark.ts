import type { Identity } from '@custody/runtime'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { FileId } from './file-id.js'

/** What shows that a process was born somewhere: evidence that the kernel has, and no file, name, port or user. */
export interface Birthmark {
  /** Its initial environment carries this namespace or one below it. Programs overwrite it: absence proves nothing. */
  readonly namespace: NamespaceId
  /** One of its descriptors is a file that Custody opened for it. Some programs close them, others keep them for their daemons. */
  readonly files: readonly FileId[]
  /** It is, or descends from, one of these, as long as they live. */
  readonly known: readonly Identity[]
}
