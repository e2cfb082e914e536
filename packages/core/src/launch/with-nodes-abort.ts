import * as util from 'node:util'

/** Calls with Node's own AbortController as the global one. jsdom and the like put theirs there, and Node refuses its signals. */
export function withNodesAbort<T>(call: () => T): T {
  // Once the global one is replaced nothing else leads to Node's. Bun does not have this function.
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
