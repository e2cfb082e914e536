import { randomBytes } from 'node:crypto'

export { newFileId } from './new-file-id.js'

/** Ids of namespaces: `<run: 32 hex>.<file: 16 hex>.<counter>`. One below another's belongs to it as well. */
export type NamespaceId = string

/**
 * A new run's id: 128 random bits. A run that was itself started inside a namespace stands below that one.
 * @param outer the namespace of the process that starts the run
 */
export function newRunId(outer: NamespaceId | null): NamespaceId {
  const own = randomBytes(16).toString('hex')
  // An id is part of a file's name and may have 200 characters: runs within runs within runs begin anew at some depth.
  return outer === null || outer.length > MAX_OUTER_LENGTH ? own : `${outer}.${own}`
}

/** Leaves room for the run's, the file's and the test's part. */
const MAX_OUTER_LENGTH = 130

/** Whether it is that of a started runtime, or one below that. */
export function isOfRuntime(id: NamespaceId): boolean {
  return /\.r\d+(?:x\d+)?(?:\.|$)/.test(id)
}
