import { isObject } from '../wire/json.js'
import type { RpcError } from './protocol-server.js'

/** What a caller of a guarded shutdown takes for true. */
export interface Expectation {
  /** The frozen path of the locator, or of the registry entry, that the caller captured. */
  locator: string
  instance: string
  /** The caller's scope: the namespace of the runtime, or one above it. */
  namespace: string
}

/** What a runtime knows of itself. */
export interface Ownership {
  locator: string
  registryEntry: string | null
  instance: string
  namespace: string | null
}

/** Whether `scope` is the namespace `id` or one above it. */
export function isInScope(id: string, scope: string): boolean {
  return id === scope || id.startsWith(`${scope}.`)
}

/** Why the caller does not own this runtime, or null when it does. Compared anew at each request. */
export function findMismatch(own: Ownership, expected: unknown): string | null {
  if (!isObject(expected)) return 'the expectation is not an object'
  const { locator, instance, namespace } = expected
  if (typeof locator !== 'string' || typeof instance !== 'string' || typeof namespace !== 'string') {
    return 'the expectation is not complete'
  }
  if (instance !== own.instance) return 'another instance is expected'
  if (locator !== own.locator && locator !== own.registryEntry) return 'another locator is expected'
  if (own.namespace !== null && !isInScope(own.namespace, namespace)) return 'another namespace is expected'
  return null
}

/**
 * Reads what a shutdown is asked with. A misspelt or malformed `expect` must not become a stop without any expectation.
 * @throws {RpcError} -32602; nothing has happened then
 */
export function readShutdownParams(params: unknown = {}): { expect: unknown; graceMs: number | undefined } {
  const { expect, graceMs, ...unknown } = isObject(params) ? params : { unknown: params }
  const isGraceWrong = graceMs !== undefined && !(typeof graceMs === 'number' && graceMs >= 0)
  if (isGraceWrong || Object.keys(unknown).length > 0) {
    const error: RpcError = {
      code: -32_602,
      message: 'Invalid params: only expect and graceMs, and graceMs a number of 0 or more',
    }
    throw error
  }
  return { expect, graceMs }
}

/** @returns the error that refuses a shutdown: nothing has happened, and nothing will */
export function notOwner(reason: string): RpcError {
  return { code: -32_000, message: `Not the owner: ${reason}`, data: { code: 'not_owner', reason } }
}
