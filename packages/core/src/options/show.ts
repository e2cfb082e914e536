import { inspect } from 'node:util'

/** Longer values are cut. */
const MAX_LENGTH = 200

/** A value that a user has given, for a message. */
export function show(value: unknown): string {
  return shown(value).slice(0, MAX_LENGTH)
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // It has a BigInt, or refers to itself.
    return inspect(value, { breakLength: Infinity })
  }
}
