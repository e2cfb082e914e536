import { expect, test } from 'vitest'
import { inStopOrder } from './stop-order.js'

const of = (id: string, ...needs: string[]) => ({ id, needs })
const idsOf = (...all: { id: string; needs: string[] }[]) => inStopOrder(all).map((wave) => wave.map(({ id }) => id))

test('stops what needs another before that', () => {
  expect(idsOf(of('database'), of('api', 'database'), of('site', 'api'))).toEqual([['site'], ['api'], ['database']])
})

test('stops together what does not need each other', () => {
  expect(idsOf(of('a', 'd'), of('b', 'd'), of('c'), of('d'))).toEqual([['a', 'b', 'c'], ['d']])
})

test('waits for the last of those that need it', () => {
  expect(idsOf(of('a', 'b', 'c'), of('b', 'c'), of('c'))).toEqual([['a'], ['b'], ['c']])
})

test('does not wait for what is not there any more', () => {
  expect(idsOf(of('api', 'gone'), of('other'))).toEqual([['api', 'other']])
})

test('knows a runtime again that was started once more', () => {
  expect(idsOf(of('api', 'db'), of('dbx2'))).toEqual([['api'], ['dbx2']])
  expect(idsOf(of('api', 'dbx2'), of('dbx3'))).toEqual([['api'], ['dbx3']])
})

test('stops together what needs each other, or itself', () => {
  expect(idsOf(of('a', 'b'), of('b', 'a'), of('c', 'c'))).toEqual([['a', 'b', 'c']])
  expect(idsOf(of('first', 'a'), of('a', 'b'), of('b', 'a'))).toEqual([['first'], ['a', 'b']])
})

test('has no wave for nothing', () => expect(inStopOrder([])).toEqual([]))
