import { expect, test } from 'vitest'
import { findMismatch, isInScope, notOwner, readShutdownParams } from './ownership.js'

const own = {
  locator: '/a/locator.json',
  registryEntry: '/run/r/registry/r.A--1.json',
  instance: '1'.repeat(32),
  namespace: 'r.A',
}
const right = { locator: own.locator, instance: own.instance, namespace: own.namespace }

test('agrees with its locator or its registry entry, its instance, and its namespace or one above', () => {
  expect(findMismatch(own, right)).toBeNull()
  expect(findMismatch(own, { ...right, locator: own.registryEntry })).toBeNull()
  expect(findMismatch(own, { ...right, namespace: 'r' })).toBeNull()
})

test.each([
  ['another instance', { instance: '2'.repeat(32) }],
  ['a longer instance', { instance: `${own.instance}1` }],
  ['another locator', { locator: '/b/locator.json' }],
  ['another spelling of the locator', { locator: '/a//locator.json' }],
  ['another namespace', { namespace: 'q' }],
  ['a namespace below its own', { namespace: 'r.A.x' }],
  ['a namespace beside its own', { namespace: 'r.AB' }],
  ['a namespace that is a piece of its own', { namespace: 'r.' }],
  ['an empty namespace', { namespace: '' }],
])('refuses %s', (_, change) => {
  expect(findMismatch(own, { ...right, ...change })).toMatch(/^another \w+ is expected$/)
})

test.each([
  null,
  true,
  false,
  1,
  'r.A',
  [],
  [right],
  {},
  { ...right, locator: undefined },
  { ...right, instance: null },
  { ...right, namespace: ['r.A'] },
])('refuses the malformed expectation %j', (expected) => {
  expect(findMismatch(own, expected)).toMatch(/^the expectation is not/)
})

test('compares the other two outside of every namespace', () => {
  const outside = { ...own, namespace: null, registryEntry: null }
  expect(findMismatch(outside, { ...right, namespace: 'anything' })).toBeNull()
  expect(findMismatch(outside, { ...right, locator: 'null' })).toMatch(/another locator/)
})

test('counts whole parts only: r.AB is not below r.A', () => {
  expect([isInScope('r.A', 'r.A'), isInScope('r.A.b', 'r.A'), isInScope('r.AB', 'r.A'), isInScope('r', 'r.A')]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('reads what a shutdown is asked with, and needs nothing of it', () => {
  expect(readShutdownParams({ expect: right, graceMs: 5 })).toEqual({ expect: right, graceMs: 5 })
  expect(readShutdownParams({ graceMs: 0 })).toEqual({ graceMs: 0 })
  for (const none of [undefined, {}]) expect(readShutdownParams(none)).toEqual({})
})

test.each([
  null,
  [],
  [right],
  'x',
  1,
  { expects: right },
  { Expect: right },
  right,
  { expect: right, more: 1 },
  { graceMs: -1 },
  { graceMs: '5' },
  { graceMs: null },
  { graceMs: Number.NaN },
])('refuses the parameters %j, which could be meant as an expectation or a time', (params) => {
  expect(() => readShutdownParams(params)).toThrow(expect.objectContaining({ code: -32_602 }))
})

test('gives the refusal of docs/protocol.md', () => {
  expect(notOwner('x')).toEqual({ code: -32_000, message: 'Not the owner: x', data: { code: 'not_owner', reason: 'x' } })
})
