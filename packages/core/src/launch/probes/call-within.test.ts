import { expect, test } from 'vitest'
import { callWithin } from './call-within.js'

test('gives what the function returns, of its own realm', () => {
  const list = [1]
  expect(callWithin(1_000, () => list)).toBe(list)
})

test('passes on what the function throws', () => {
  const error = new Error('on purpose')
  expect(() =>
    callWithin(1_000, () => {
      throw error
    }),
  ).toThrow(error)
})

test('interrupts a regular expression that backtracks without end, and works again', () => {
  const hostile = () => /^(a+)+$/.test(`${'a'.repeat(60)}b`)
  expect(() => callWithin(20, hostile)).toThrow(expect.objectContaining({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' }))
  expect(callWithin(1_000, () => /a/.test('a'))).toBe(true)
})
