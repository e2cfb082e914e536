import { expect, test } from 'vitest'
import { checkOptions, type ServeRuntimeOptions } from './options.js'

const right: ServeRuntimeOptions = { name: 'app', locator: '/tmp/app.json', onShutdown() {} }

test.each<[string, object]>([
  ['the three that must be there', {}],
  ['no idle exit', { idleMs: Infinity }],
  ['no time to drain', { drainMs: 0 }],
  ['no signals', { signals: false }],
  ['an empty list of signals', { signals: [] }],
  ['details of exactly 4 KiB', { details: { text: 'x'.repeat(4096 - '{"text":""}'.length) } }],
  ['a name of 128 characters', { name: 'n'.repeat(128) }],
])('accepts %s', (_, options) => {
  expect(() => checkOptions({ ...right, ...options })).not.toThrow()
})

test.each<[string, unknown]>([
  ['name', ''],
  ['name', 'n'.repeat(129)],
  ['name', undefined],
  ['name', 7],
  ['locator', 'relative.json'],
  ['locator', ''],
  ['locator', '/a\0b'],
  ['locator', undefined],
  ['onShutdown', undefined],
  ['onShutdown', 'exit'],
  ['drainMs', -1],
  ['drainMs', Number.NaN],
  ['drainMs', '100'],
  ['idleMs', -1],
  ['idleMs', Number.NaN],
  ['idleMs', null],
  ['details', { text: 'x'.repeat(4096) }],
  ['details', null],
  ['details', []],
  ['details', 'text'],
  ['details', () => {}],
  ['details', { self: 1n }],
  ['signals', 'SIGTERM'],
  ['signals', [15]],
  ['signals', true],
  ['signals', null],
  ['signals', ['SIGNONE']],
  ['signals', ['SIGKILL']],
  ['exit', 'no'],
])('names the option "%s" when it is %o', (option, value) => {
  expect(() => checkOptions({ ...right, [option]: value })).toThrow(
    expect.objectContaining({
      code: 'CUSTODY_INVALID_OPTION',
      message: expect.stringContaining(`the option ${option} is `),
      facts: expect.objectContaining({ option }),
    }),
  )
})

test('shows the value that it refuses as it is', () => {
  expect(() => checkOptions({ ...right, drainMs: Number.NaN })).toThrow(/the option drainMs is NaN\./)
})
