import { afterEach, expect, test } from 'vitest'
import { withNodesAbort } from './with-nodes-abort.js'

const nodes = globalThis.AbortController
class Replacement {}

/** As jsdom does. */
function replace(): void {
  Object.defineProperty(globalThis, 'AbortController', { value: Replacement, configurable: true, writable: true })
}

afterEach(() => {
  Object.defineProperty(globalThis, 'AbortController', { value: nodes, configurable: true, writable: true, enumerable: false })
})

test('has the class of Node for the call, and the replacement back after it', () => {
  replace()
  expect(withNodesAbort(() => globalThis.AbortController)).toBe(nodes)
  expect(globalThis.AbortController).toBe(Replacement)
})

test('has the replacement back when the call throws', () => {
  replace()
  const call = () => {
    throw new Error('no')
  }
  expect(() => withNodesAbort(call)).toThrow('no')
  expect(globalThis.AbortController).toBe(Replacement)
})

test('leaves the global alone that is the class of Node', () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'AbortController')
  expect(withNodesAbort(() => Object.getOwnPropertyDescriptor(globalThis, 'AbortController'))).toEqual(before)
})
