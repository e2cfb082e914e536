import * as util from 'node:util'

/**
 * Calls what gives a signal of its own to Node, with Node's `AbortController` for the time of the call: environments as jsdom put one of
 * their own in its place, whose signals Node does not take.
 */
export function withNodesAbort<T>(call: () => T): T {
  // There is no other way to it once the global one is replaced. Bun has none.
  const nodes = util.transferableAbortController?.().constructor
  const replaced = Object.getOwnPropertyDescriptor(globalThis, 'AbortController')
  if (nodes === undefined || replaced === undefined || globalThis.AbortController === nodes) return call()
  Object.defineProperty(globalThis, 'AbortController', { value: nodes, configurable: true, writable: true })
  try {
    return call()
  } finally {
    Object.defineProperty(globalThis, 'AbortController', replaced)
  }
}
