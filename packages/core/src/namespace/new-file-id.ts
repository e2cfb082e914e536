import { threadId } from 'node:worker_threads'
import type { NamespaceId } from './namespace-id.js'

let next = Number(process.hrtime.bigint() % 0x1_0000_0000n)

/**
 * A new id for one execution of one test file: unique in its run, by process, thread and a counter. Workers need it at once, and
 * randomness would have them load all of node:crypto.
 */
export function newFileId(run: NamespaceId): NamespaceId {
  return `${run}.${newPart()}`
}

/** A number that is unique in its run, in the same way. */
export function newRunNumber(): bigint {
  return BigInt(`0x${newPart()}`)
}

function newPart(): string {
  next = (next + 1) % 0x1_0000_0000
  return `${hex(process.pid, 6)}${hex(threadId % 0x100, 2)}${hex(next, 8)}`
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0').slice(-digits)
}
