import { describe, expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { runners, shareSuite } from './run-suite.js'

const header = `
  import { test as own } from '@custody/vitest'
  const exited = (child) => new Promise((resolve) => child.once('exit', resolve))`

describe.runIf(runners.includes('vitest'))('fixtures of Vitest', () => {
  const suite = shareSuite('vitest', () => ({
    files: {
      own: `
        ${header}
        own('has the scope of the test', async ({ custody: given }) => {
          expect(given.namespace.id).toBe(custody.namespace.id)
          const api = await given.start({ name: 'api', command: ['node', '-e', 'setInterval(() => {}, 1e3)'] })
          note('api', api.pid)
        })
        const more = own.extend({ double: async ({ custody }, use) => { await use([custody.namespace.id, custody.namespace.id]) } })
        more('extends further', ({ custody, double }) => expect(double).toEqual([custody.namespace.id, custody.namespace.id]))
        own.each([1, 2])('takes %s', (n) => expect(n).toBeGreaterThan(0))`,
      long: `
        ${header}
        const shared = test.extend({
          server: [async ({}, use) => {
            const child = spawn('sleep', ['300'], { stdio: 'ignore' })
            note('server', child.pid)
            await use(child)
            child.kill()
            await exited(child)
          }, { scope: 'file' }],
          left: [async ({}, use) => { await use(spawn('sleep', ['301'], { stdio: 'ignore' })) }, { scope: 'file' }],
          pool: [async ({}, use) => {
            const child = spawn('sleep', ['302'], { stdio: 'ignore' })
            note('pool', child.pid)
            await use(child)
            child.kill()
            await exited(child)
          }, { scope: 'worker' }],
          api: [async ({}, use) => {
            await use(await custody.start({ name: 'shared', command: ['node', '-e', 'setInterval(() => {}, 1e3)'] }))
          }, { scope: 'file' }],
        })
        shared('sets them up', ({ server, left, pool, api }) => {
          for (const { pid } of [server, left, pool, api]) expect(isAlive(pid)).toBe(true)
        })
        shared('uses them', ({ server, left, pool, api }) => {
          for (const { pid } of [server, left, pool, api]) expect(isAlive(pid)).toBe(true)
        })`,
      short: `
        const each = test.extend({ child: async ({}, use) => { await use(spawn('sleep', ['303'], { stdio: 'ignore' })) } })
        each('leaves what its own fixture has started', ({ child }) => expect(isAlive(child.pid)).toBe(true))
        each('uses none', () => {})`,
    },
  }))

  test.each(['has the scope of the test', 'extends further', 'takes 1', 'takes 2'])('custody as a fixture: %s', (title) => {
    expect(suite().test(title).status, suite().output).toBe('passed')
  })

  test.each([
    ['sets them up', 'passed'],
    ['uses them', 'passed'],
    ['leaves what its own fixture has started', 'failed'],
    ['uses none', 'passed'],
  ])('what they start is of their scope: %s', (title, status) => {
    expect(suite().test(title).status, suite().output).toBe(status)
  })

  test('what one of a file leaves makes the file red', () => {
    expect(suite().output).toContain('A process that this file started is still alive.')
    expect(suite().output).toMatch(/pid \d+ {2}sleep 301/)
    expect(suite().output).toContain(suite().placeOf("spawn('sleep', ['301']"))
    expect(suite().summary.leaked).toBe(2)
  })

  test('nothing of them outlives the run', () => {
    const { notes } = suite()
    expect(['api', 'server', 'pool'].filter((name) => notes[name] === undefined || hasProgram(notes[name]))).toEqual([])
  })
})
