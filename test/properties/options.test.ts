import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseOptions } from '../../packages/core/src/options/parse-options.js'
import { checkOptions, type ServeRuntimeOptions } from '../../packages/runtime/src/serve/options.js'
import { findMismatch, readShutdownParams } from '../../packages/runtime/src/serve/ownership.js'
import { anything, hasUndefined } from './arbitraries.js'
import { check } from './check.js'

const names = [
  'published',
  'unproven',
  'forced',
  'unexpectedExit',
  'leaks',
  'overrides',
  'leakScope',
  'allow',
  'commonHelpers',
  'explain',
  'locators',
  'keep',
  'markChildren',
  'runtimes',
  'logs',
  'timeouts',
  'unmanaged',
  'strict',
  'report',
] as const
const words = ['retire', 'fail', 'warn', 'ignore', 'off', 'file', 'test', 'never', 'on-failure', 'always', 'stream', true, false]
const runtimes = fc.array(
  fc.record(
    {
      name: fc.oneof(fc.constantFrom('db', 'api'), anything),
      command: fc.oneof(fc.constant(['node', 'a.js']), fc.constant('node a.js'), anything),
      ready: anything,
      env: anything,
      cwd: anything,
      needs: anything,
      scope: fc.constantFrom('run', 'test', 1),
      eager: fc.oneof(fc.boolean(), anything),
    },
    { requiredKeys: ['name', 'command'] },
  ),
  { maxLength: 2 },
)
const value = fc.oneof(
  fc.constantFrom(...words),
  fc.array(fc.constantFrom('a', '/b/*.json', '')),
  fc.record({ proofMs: fc.double(), graceMs: fc.nat() }, { requiredKeys: [] }),
  fc.record({ json: fc.oneof(fc.constant('r.json'), fc.constant(null)), junit: anything }, { requiredKeys: [] }),
  runtimes,
  anything,
)
const options = fc.oneof(
  fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 3 }).map((given) => Object.fromEntries(given)),
  fc.dictionary(fc.string(), anything, { maxKeys: 3 }),
  anything,
)

test('options are whole, whatever was given, or are refused with the name of each that is wrong', async () => {
  const seen = { whole: 0, refused: 0 }
  const env = fc.constantFrom({}, { CUSTODY_LEAKS: 'warn' }, { CUSTODY_LEAKS: 'often' }, { CUSTODY_LOGS: 'a, b' })
  await check(
    fc.property(options, env, (given, variables) => {
      try {
        const resolved = parseOptions(given, variables)
        seen.whole++
        expect(Object.keys(resolved).toSorted()).toEqual([...names, 'streamed'].toSorted())
        const { runtimes: defined, ...rest } = resolved
        expect(hasUndefined(rest)).toBe(false)
        for (const each of defined) expect(each).toMatchObject({ name: expect.any(String) })
        // They travel to workers, and mean the same there.
        expect(parseOptions(undefined, {})).toMatchObject({ leaks: 'fail', runtimes: [] })
        expect(structuredClone(resolved)).toEqual(resolved)
      } catch (error) {
        seen.refused++
        expect(error).toMatchObject({ code: 'CUSTODY_INVALID_OPTION', facts: { options: expect.any(Array) } })
        expect((error as Error).message).not.toContain('undefined is')
      }
    }),
    1_000,
  )
  expect(Math.min(seen.whole, seen.refused)).toBeGreaterThan(100)
})

test('a runtime is served with right options, and with wrong ones refused by name', async () => {
  const given = fc.record({
    name: fc.oneof(fc.constant('a'), anything),
    locator: fc.oneof(fc.constant('/run/a.json'), anything),
    onShutdown: fc.oneof(
      fc.constant(() => {}),
      anything,
    ),
    drainMs: fc.oneof(fc.nat(), anything),
    idleMs: fc.oneof(fc.constant(Infinity), anything),
    details: fc.oneof(fc.dictionary(fc.string(), fc.nat()), anything),
    signals: fc.oneof(fc.constantFrom(false, [], ['SIGTERM'], ['SIGKILL']), anything),
    exit: fc.oneof(fc.boolean(), anything),
  })
  await check(
    fc.property(given, (raw) => {
      try {
        checkOptions(raw as unknown as ServeRuntimeOptions)
        expect(raw).toMatchObject({ name: expect.any(String), locator: expect.any(String), onShutdown: expect.any(Function) })
      } catch (error) {
        expect(error).toMatchObject({ code: 'CUSTODY_INVALID_OPTION', facts: { option: expect.any(String) } })
      }
    }),
    1_000,
  )
})

test('no slip becomes a stop: a shutdown is one with the right expectation, or an operator’s without any', async () => {
  const own = { locator: '/a', registryEntry: '/r/a', instance: 'i', namespace: 'n.1' }
  const near = fc.record(
    {
      locator: fc.constantFrom('/a', '/r/a', '/b', null),
      instance: fc.constantFrom('i', 'j', undefined),
      namespace: fc.constantFrom('n', 'n.1', 'n.', 'n.1.1', ''),
    },
    { requiredKeys: [] },
  )
  const params = fc.oneof(
    fc.record({ expect: fc.oneof(near, anything), graceMs: fc.oneof(fc.double(), anything) }, { requiredKeys: [] }),
    fc.dictionary(fc.constantFrom('expect', 'Expect', 'graceMs', 'grace'), anything, { maxKeys: 2 }),
    anything,
  )
  let accepted = 0
  await check(
    fc.property(
      fc.oneof(
        params,
        near.map((expect) => ({ expect })),
      ),
      (given) => {
        let said: ReturnType<typeof readShutdownParams>
        try {
          said = readShutdownParams(given)
        } catch (error) {
          expect(error).toMatchObject({ code: -32_602 })
          return
        }
        const fields = given === undefined ? [] : Object.keys(given as object)
        expect(fields.filter((field) => field !== 'expect' && field !== 'graceMs')).toEqual([])
        if (said.graceMs !== undefined) expect(said.graceMs).toBeGreaterThanOrEqual(0)
        const isOwners = findMismatch(own, said.expect) === null
        if (!isOwners) return
        accepted++
        const { instance, locator, namespace } = said.expect as { [key: string]: unknown }
        expect([own.locator, own.registryEntry]).toContain(locator)
        expect(instance).toBe('i')
        expect(['n', 'n.1']).toContain(namespace)
      },
    ),
    2_000,
  )
  expect(accepted).toBeGreaterThan(10)
})
