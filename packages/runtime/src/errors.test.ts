import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { CustodyError, hasCode } from './errors.js'

test('says what was observed and one thing to do, and keeps code, facts and cause', () => {
  const cause = new Error('disk')
  const error = new CustodyError('CUSTODY_X', 'Could not do it.', { hint: 'do it again.', facts: { bytes: 5 }, cause })
  expect(error.message).toBe('Could not do it.\nHint: do it again.')
  expect(error).toMatchObject({ name: 'CustodyError', code: 'CUSTODY_X', hint: 'do it again.', facts: { bytes: 5 }, cause })
  expect(error).toBeInstanceOf(Error)
})

test('has no cause when there was none', () => {
  expect('cause' in new CustodyError('CUSTODY_X', 'x', { hint: 'x' })).toBe(false)
})

test('recognises an error of another realm by its code', () => {
  const foreign = runInNewContext("Object.assign(new Error('x'), { code: 'CUSTODY_X' })")
  expect(foreign instanceof Error).toBe(false)
  expect(hasCode(foreign, 'CUSTODY_X')).toBe(true)
  for (const other of [null, undefined, 'CUSTODY_X', {}, { code: 'CUSTODY_Y' }]) expect(hasCode(other, 'CUSTODY_X')).toBe(false)
})
