import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CustodyError, clock, Deadline, ownIdentity } from '@custody/runtime/internals'
import { describe, expect, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { sampleRun } from '../../../../test/runtime/sample-run.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import type { CapturedLocator } from '../locators/capture.js'
import { parseOptions } from '../options/parse-options.js'
import type { Receipt } from '../retire/receipt.js'
import { accountFor, applyPolicy, groupCopies, type Settled, type Settler, settleLocators } from './settle-locators.js'
import type { Captured } from './teardown.js'

function newSettler(): Settler {
  const runner = { ...ownIdentity(), pid: 2 ** 22 + 1, start: '1' }
  const run = sampleRun(temporaryDirectory(), { runner, options: parseOptions({ timeouts: { proofMs: 20_000 } }, {}) })
  return { id: run.id, run, accounted: new Set(), starterOf: () => ({ kind: 'file', name: 'a', sites: [] }) }
}

/** A locator whose process has ended: nobody is waited for. */
const gone = (path: string, instance = 'a', changes: Partial<CapturedLocator> = {}): CapturedLocator => ({
  source: 'glob',
  path,
  locator: sampleLocator({ ...ownIdentity(), pid: 2 ** 22 + 1, instance: instance.repeat(32) }),
  unreadable: null,
  ...changes,
})
const holding = (...locators: CapturedLocator[]): Captured => ({ locators, cutShort: [] })
const nothing = () => holding()
const time = (ms = 60_000) => ({ begunAt: clock.now(), deadline: Deadline.after(ms) })
const pathsOf = (findings: readonly Settled[]) => findings.map(({ evidence }) => evidence.path)

describe('what was captured', () => {
  test('is settled, and what came after it, each once', async () => {
    const settler = newSettler()
    let looks = 0
    const look = () => (looks++ < 2 ? holding(gone('/a'), gone(`/later-${looks}`, 'b')) : holding(gone('/a')))
    const { findings, faults } = await settleLocators(settler, holding(gone('/a')), look, time())
    expect(pathsOf(findings)).toEqual(['/a', '/later-1'])
    expect(findings[0]?.receipt).toMatchObject({ verdict: 'gone', exit: 'observed', left: [], scope: settler.id })
    expect(faults).toEqual([])
    expect((await settleLocators(settler, null, look, time())).findings).toEqual([])
  })

  test('is looked for where nothing was captured before', async () => {
    const { findings } = await settleLocators(newSettler(), null, () => holding(gone('/a')), time())
    expect(pathsOf(findings)).toEqual(['/a'])
  })

  test('is not looked for without an end, nor when the time is over', async () => {
    let looks = 0
    const always = () => holding(gone(`/${looks++}`, looks.toString(16)))
    expect((await settleLocators(newSettler(), null, always, time())).findings).toHaveLength(5)
    expect((await settleLocators(newSettler(), holding(gone('/a')), always, time(0))).findings).toHaveLength(1)
  })

  test('is settled though it cannot be looked for any more, which is told', async () => {
    const fault = new Error('the registry is gone')
    const look = () => {
      throw fault
    }
    const { faults, findings } = await settleLocators(newSettler(), holding(gone('/a')), look, time())
    expect(pathsOf(findings)).toEqual(['/a'])
    expect(faults).toEqual([fault])
  })

  test('is settled though something goes wrong with another of it, which is told', async () => {
    const broken = gone('/b', 'b')
    Object.defineProperty(broken, 'source', {
      get() {
        throw new Error('unforeseen')
      },
    })
    const { faults, findings } = await settleLocators(newSettler(), holding(broken, gone('/a')), nothing, time())
    expect(pathsOf(findings)).toEqual(['/a'])
    expect(faults).toMatchObject([{ message: 'unforeseen' }])
  })

  test('says which globs were cut short, each once', async () => {
    const cut = { locators: [], cutShort: ['**/*.json'] }
    expect((await settleLocators(newSettler(), cut, () => cut, time())).cutShort).toEqual(['**/*.json'])
  })

  test('loses its entries in the registry when it has ended, and nothing elsewhere', async () => {
    const directory = temporaryDirectory()
    const [entry, file, missing] = ['entry', 'file', 'missing'].map((name) => join(directory, name)) as [string, string, string]
    for (const path of [entry, file]) writeFileSync(path, '')
    const captured = holding(gone(entry, 'a', { source: 'registry' }), gone(file), gone(missing, 'a', { source: 'registry' }))
    expect((await settleLocators(newSettler(), captured, nothing, time())).faults).toEqual([])
    expect([entry, file].map(existsSync)).toEqual([false, true])
  })

  test('that cannot be read keeps its entry, and has a receipt without a name', async () => {
    const path = join(temporaryDirectory(), 'entry')
    writeFileSync(path, '')
    const unreadable = gone(path, 'a', { source: 'registry', locator: null, unreadable: 'it is empty' })
    const { findings } = await settleLocators(newSettler(), holding(unreadable), nothing, time())
    expect(findings).toMatchObject([
      {
        instance: null,
        receipt: { name: null, verdict: 'invalid', exit: 'not observed', left: [] },
        failure: { code: 'CUSTODY_REGISTRY_UNREADABLE' },
      },
    ])
    expect(existsSync(path)).toBe(true)
  })

  test('whose entry cannot be removed is told', async () => {
    const directory = temporaryDirectory()
    const { faults } = await settleLocators(newSettler(), holding(gone(directory, 'a', { source: 'registry' })), nothing, time())
    expect(faults).toMatchObject([{ code: expect.stringMatching(/^(EISDIR|EPERM)$/) }])
  })
})

describe('copies', () => {
  test('are of one publication when they have the same content, wherever they lie', () => {
    const [a, entry] = [gone('/a'), gone('/registry/a', 'a', { source: 'registry' })]
    const withPath = { ...entry, locator: { ...sampleLocator(entry.locator ?? {}), path: '/a' } }
    expect(groupCopies([a, withPath]).map(([, copies]) => copies)).toEqual([[a, withPath]])
  })

  test('do not speak for another with other content, or for what cannot be read', () => {
    const [a, forged] = [gone('/a'), gone('/b')]
    const other = { ...forged, locator: sampleLocator({ ...forged.locator, token: '8'.repeat(64) }) }
    const unreadable = ['/c', '/d'].map((path) => gone(path, 'a', { locator: null, unreadable: 'it is empty' }))
    expect(groupCopies([a, other, ...unreadable]).map(([, copies]) => copies)).toEqual([
      [a],
      [other],
      ...unreadable.map((each) => [each]),
    ])
  })
})

describe('an account', () => {
  const receipt = (verdict: Receipt['verdict'], path: string) => ({ verdict, evidence: { path } }) as Receipt
  const isSettled = async (accounted: Set<string>, captured: CapturedLocator) =>
    (await settleLocators({ ...newSettler(), accounted }, holding(captured), nothing, time())).findings.length === 0

  test('of who was owned holds wherever it shows', async () => {
    const accounted = new Set<string>()
    accountFor(receipt('owned', '/a'), 'a'.repeat(32), accounted)
    expect(await isSettled(accounted, gone('/elsewhere'))).toBe(true)
    expect(await isSettled(accounted, gone('/a', 'b'))).toBe(false)
  })

  test('of anybody else, and of what has no instance, is of this one file', async () => {
    for (const [verdict, instance] of [
      ['foreign', 'a'.repeat(32)],
      ['owned', null],
    ] as const) {
      const accounted = new Set<string>()
      accountFor(receipt(verdict, '/a'), instance, accounted)
      const captured = (path: string) =>
        instance === null ? gone(path, 'a', { locator: null, unreadable: 'it is empty' }) : gone(path)
      expect(await isSettled(accounted, captured('/a'))).toBe(true)
      expect(await isSettled(accounted, captured('/elsewhere'))).toBe(false)
    }
  })
})

test('a policy makes a warning of what is unproven, and leaves every other failure one', () => {
  const failing = (code: 'CUSTODY_RUNTIME_UNPROVEN' | 'CUSTODY_RUNTIME_LEFT'): Settled =>
    ({ instance: 'a', receipt: {}, failure: new CustodyError(code, code, { hint: '', facts: {} }) }) as unknown as Settled
  const findings = [
    failing('CUSTODY_RUNTIME_UNPROVEN'),
    failing('CUSTODY_RUNTIME_LEFT'),
    { instance: null, receipt: {}, failure: null } as unknown as Settled,
  ]
  const codesOf = (unproven: 'warn' | 'fail') => {
    const { events, failures } = applyPolicy(findings, parseOptions({ unproven }, {}))
    return [events.map(({ type }) => type), failures.map(({ code }) => code)]
  }
  expect(codesOf('warn')).toEqual([['receipt', 'receipt', 'receipt', 'warning'].toSorted(), ['CUSTODY_RUNTIME_LEFT']])
  expect(codesOf('fail')).toEqual([
    ['receipt', 'receipt', 'receipt'],
    ['CUSTODY_RUNTIME_UNPROVEN', 'CUSTODY_RUNTIME_LEFT'],
  ])
})
