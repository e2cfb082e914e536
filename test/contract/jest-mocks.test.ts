import { describe, expect, test } from 'vitest'
import { runners, type Suite, shareSuite, statusesOf } from './run-suite.js'

const load = `let { custody } = require('@custody/jest')`
const fail = `() => { throw new Error('a mock') }`

/** Modules of Node that tests mock, by both of their names. */
const modules = ['child_process', 'fs', 'fs/promises', 'net', 'os', 'path', 'timers', 'timers/promises'].flatMap((name) => [
  name,
  `node:${name}`,
])

/** What a test file does before it uses Custody. Each gives `custody`. */
const inFiles: Readonly<Record<string, string>> = {
  'jest.resetModules': `
    ${load}
    beforeEach(() => jest.resetModules())`,
  'modules that are loaded again for each test': `
    let custody
    beforeEach(() => {
      jest.resetModules()
      custody = require('@custody/jest').custody
    })`,
  'jest.isolateModules': `
    let custody
    jest.isolateModules(() => { custody = require('@custody/jest').custody })`,
  'jest.isolateModulesAsync': `
    let custody
    beforeEach(() => jest.isolateModulesAsync(async () => { custody = require('@custody/jest').custody }))`,
  'automatic mocks of what Node has': `
    ${modules.map((name) => `jest.mock('${name}')`).join('\n')}
    ${load}`,
  'mocks of what Node has': `
    ${modules.map((name) => `jest.mock('${name}', () => new Proxy({}, { get: () => ${fail} }))`).join('\n')}
    ${load}`,
  'spies on the process': `
    ${load}
    for (const name of ['kill', 'on', 'once', 'emit', 'cwd', 'nextTick', 'hrtime', 'exit'])
      jest.spyOn(process, name).mockImplementation(${fail})`,
  'spies on JSON': `
    ${load}
    for (const name of ['parse', 'stringify']) jest.spyOn(JSON, name).mockImplementation(${fail})`,
  'another process.env': `
    ${load}
    process.env = { PATH: process.env.PATH, ANOTHER: 'env' }`,
  'an emptied process.env': `
    ${load}
    for (const name of Object.keys(process.env)) if (name !== 'PATH') delete process.env[name]`,
  'fake timers': `
    ${load}
    jest.useFakeTimers()`,
  'legacy fake timers': `
    ${load}
    jest.useFakeTimers({ legacyFakeTimers: true })`,
  'another time': `
    ${load}
    jest.useFakeTimers({ now: 0 })
    beforeEach(() => jest.setSystemTime(new Date('2099-01-01')))`,
  'globals that were replaced': `
    ${load}
    const names = ['Promise', 'setTimeout', 'clearTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Date', 'performance']
    const others = ['AbortController', 'Buffer', 'URL', 'fetch', 'process', 'structuredClone']
    for (const name of [...names, ...others]) globalThis[name] = ${fail}`,
}

/** What the configuration says of a project. */
const inConfig: Readonly<Record<string, string>> = {
  automock: `automock: true`,
  'fake timers everywhere': `fakeTimers: { enableGlobally: true }`,
  'legacy fake timers everywhere': `fakeTimers: { enableGlobally: true, legacyFakeTimers: true }`,
  'mocks and modules that are reset for each test': `resetMocks: true, restoreMocks: true, resetModules: true`,
  // Of Jest 30. 29 does not know it.
  'a clean-up of globals': `testEnvironmentOptions: { globalsCleanup: 'on' }`,
}

const ways: Readonly<Record<string, string>> = {
  ...inFiles,
  ...Object.fromEntries(Object.keys(inConfig).map((way) => [way, load])),
}

const using = (way: string) => `
  const { spawn } = jest.requireActual('node:child_process')
  test('${way}: starts', async () => {
    const { pid } = await custody.start({ name: 'api', command: ['sh', '-c', 'echo up; exec sleep 300'], ready: { log: 'up' } })
    expect(pid).toBeGreaterThan(1)
  })
  test('${way}: runs', async () => expect((await custody.exec('echo', ['ran'])).stdout).toBe('ran\\n'))
  test('${way}: shares', async () => {
    const { pid } = await custody.shared({ name: 'shared', scope: 'file', command: ['sleep', '300'] })
    expect(pid).toBeGreaterThan(1)
  })
  test('${way}: leaks', () => { /* ${way} */ spawn('sleep', ['301'], { stdio: 'ignore' }) })`

const idle = (way: string) => `test('${way}: starts nothing', () => {})`

const fileOf = (way: string) => `${way.replaceAll(/\W+/g, '-')}.check.cjs`

/** A project for each configuration, and one for all that files do themselves. */
const project = (displayName: string, own: readonly string[], rest: string) =>
  `{ ${rest}, displayName: '${displayName}', rootDir: import.meta.dirname, transform: {}, testMatch: ${JSON.stringify(own.map((way) => `**/${fileOf(way)}`))} }`
const projects = [
  project('files', Object.keys(inFiles), 'automock: false'),
  ...Object.entries(inConfig).map(([way, rest]) => project(way, [way], rest)),
]

const suiteOf = (body: (way: string) => string): Suite => ({
  config: `
    import { withCustody } from '@custody/jest/config'
    export default withCustody({ testTimeout: 30_000, projects: [${projects.join()}] }, { report: { json: 'custody.json' } })`,
  // They wait more than they work.
  args: ['-w', '4'],
  files: {},
  extras: Object.fromEntries(Object.keys(ways).map((way) => [fileOf(way), `${ways[way]}\n${body(way)}`])),
})

describe.runIf(runners.includes('jest'))('jest', () => {
  describe('in a file with', () => {
    const suite = shareSuite('jest', () => suiteOf(using), 200_000)

    test.each(Object.keys(ways))('%s, custody is itself, and finds a leak at its line', (way) => {
      expect(statusesOf(suite()), suite().output).toMatchObject({
        [`${way}: starts`]: 'passed',
        [`${way}: runs`]: 'passed',
        [`${way}: shares`]: 'passed',
        [`${way}: leaks`]: 'failed',
      })
      expect(suite().test(`${way}: leaks`).messages).toContain('A process that this test started is still alive.')
      expect(suite().output).toContain(`${suite().placeOf(`/* ${way} */`)}:`)
    })

    test('any of them, all is accounted for', () => {
      const { receipts, summary } = suite()
      const count = Object.keys(ways).length
      expect(receipts.filter(({ forced, left }) => forced || left.length > 0)).toEqual([])
      expect([receipts.length, summary.leaked]).toEqual([2 * count, count])
    })
  })

  describe('in a file that starts nothing, with', () => {
    const suite = shareSuite('jest', () => suiteOf(idle), 200_000)

    test.each(Object.keys(ways))('%s, tests are green', (way) => {
      expect(suite().test(`${way}: starts nothing`).status, suite().output).toBe('passed')
    })

    test('any of them, nothing is said', () => {
      expect(suite().exitCode, suite().output).toBe(0)
      expect(suite().output).not.toContain('custody  ')
      expect(suite().receipts).toEqual([])
    })
  })

  describe.each([
    ['a workspace', 'packages/NAME'],
    ['npm', 'node_modules/@custody/NAME'],
    ['pnpm', 'node_modules/.pnpm/@custody+NAME/node_modules/@custody/NAME'],
  ])('with automock and the package where %s has it,', (_, place) => {
    const suite = shareSuite('jest', () => ({
      config: `
        import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
        import { createRequire } from 'node:module'
        import { dirname, join } from 'node:path'
        const require = createRequire(import.meta.url)
        const from = (name, find) => realpathSync(dirname(find.resolve(name + '/package.json')))
        const jest = from('@custody/jest', require)
        const core = from('@custody/core', createRequire(join(jest, 'package.json')))
        const found = (name) => join(import.meta.dirname, 'node_modules', name)
        mkdirSync(found('@custody'), { recursive: true })
        for (const [name, path] of Object.entries({ jest, core })) {
          const copy = join(import.meta.dirname, '${place}'.replaceAll('NAME', name))
          cpSync(path, copy, { recursive: true, filter: (each) => !each.slice(path.length).includes('node_modules') })
          if (!existsSync(found('@custody/' + name))) symlinkSync(copy, found('@custody/' + name))
        }
        for (const name of ['@custody/runtime', 'tmp-promise']) symlinkSync(from(name, createRequire(join(core, 'package.json'))), found(name))
        const own = { automock: true, transform: {}, testMatch: ['**/*.check.cjs'], testTimeout: 30_000, rootDir: import.meta.dirname }
        export default async () => (await import('@custody/jest/config')).withCustody(own, { report: { json: 'custody.json' } })`,
      files: {},
      extras: {
        [fileOf('automock')]: `${load}\n${using('automock')}`,
        'mocked.check.cjs': `
          const lib = require('./lib.cjs')
          test('lib is mocked', () => expect(lib.answer()).toBeUndefined())
          test('fails by itself', () => { throw new Error('on purpose') })`,
        'lib.cjs': `module.exports = { answer: () => 42 }`,
      },
    }))

    test('custody is itself, and other modules are mocks', () => {
      expect(statusesOf(suite()), suite().output).toMatchObject({
        'automock: starts': 'passed',
        'automock: runs': 'passed',
        'automock: shares': 'passed',
        'automock: leaks': 'failed',
        'lib is mocked': 'passed',
      })
      expect(suite().output).toContain(`${suite().placeOf('/* automock */')}:`)
    })

    test("its frames are not in the stack of a test's own error", () => {
      expect(suite().test('fails by itself').messages).toContain('mocked.check.cjs:4')
      expect(suite().test('fails by itself').messages).not.toMatch(/wrap-tree|@custody/)
    })
  })

  describe('in the realm of a test,', () => {
    const suite = shareSuite('jest', () => ({
      files: {
        errors: `
          const { CustodyError } = require('@custody/jest')
          const broken = { name: 'api', command: ['sh', '-c', 'echo from the program; exit 3'], ready: { log: 'never' } }
          const reject = () => custody.start(broken)
          const code = 'CUSTODY_START_FAILED'
          test('an error is an Error and a CustodyError', async () => {
            const error = await reject().catch((error) => error)
            expect(error).toBeInstanceOf(Error)
            expect(error).toBeInstanceOf(CustodyError)
            expect(error).toMatchObject({ name: 'CustodyError', code, hint: expect.any(String), facts: { name: 'api', code: 3 } })
            expect(error.facts).toBeInstanceOf(Object)
            expect(error.facts.argv).toBeInstanceOf(Array)
          })
          test('matchers know its class, its text and its code', async () => {
            await expect(reject()).rejects.toThrow(CustodyError)
            await expect(reject()).rejects.toThrow(Error)
            await expect(reject()).rejects.toThrow('exited with code 3')
            await expect(reject()).rejects.toThrow(/from the program/)
            await expect(reject()).rejects.toMatchObject({ code })
            await expect(custody.exec('false')).rejects.toEqual(expect.objectContaining({ code: 'CUSTODY_COMMAND_FAILED' }))
            await expect(custody.inspect('/nowhere')).rejects.toBeInstanceOf(CustodyError)
          })
          test('so do those of what throws at once', () => {
            custody.openNamespace('taken')
            expect(() => custody.openNamespace('taken')).toThrow(CustodyError)
            expect(() => custody.openNamespace('taken')).toThrow('taken')
            expect(() => custody.allow({})).toThrow(Error)
            expect(() => custody.configure({ leaks: 'perhaps' })).toThrow(expect.objectContaining({ code: 'CUSTODY_INVALID_OPTION' }))
          })
          test('what the test itself throws comes back as it is', async () => {
            const mine = new TypeError('mine')
            expect(() => custody.inScope('file', () => { throw mine })).toThrow(mine)
            for (const thrown of [mine, null, undefined, 'a text'])
              await expect(custody.start({ name: 'api', command: () => { throw thrown } })).rejects.toBe(thrown)
          })
          test('its class is another after jest.resetModules, and its code is not', async () => {
            jest.resetModules()
            const again = require('@custody/jest')
            const error = await again.custody.start(broken).catch((error) => error)
            expect(error).toBeInstanceOf(again.CustodyError)
            expect(error).not.toBeInstanceOf(CustodyError)
            expect(error).toBeInstanceOf(Error)
            expect(error).toMatchObject({ code })
            await expect(reject()).rejects.toBeInstanceOf(CustodyError)
          })
          test('a start that rejects', async () => {
            await custody.start(broken) // rejects here
          })
          test('a command that fails', async () => {
            await custody.exec('false') // fails here
          })
          test('a name that is taken', () => {
            custody.openNamespace('taken')
            custody.openNamespace('taken') // throws here
          })`,
        values: `
          const serving = ['sh', '-c', 'echo "port 80"; exec sleep 300']
          test('promises are those of the test', async () => {
            const { exec, inspect, runtimes, shared, start } = custody
            const starting = start({ name: 'api', command: serving, ready: { log: 'port' } })
            const api = await starting
            const calls = [starting, exec('true'), runtimes(), shared({ name: 'shared', scope: 'file', command: serving })]
            const opened = custody.openNamespace('second')
            calls.push(opened.runtimes(), opened.close(), api.log.waitFor('port'), inspect('/nowhere').catch(() => {}))
            calls.push(api.exited, api.stop())
            for (const promise of calls) expect(promise).toBeInstanceOf(Promise)
            await Promise.all(calls)
          })
          test('data is strictly equal', async () => {
            const result = await custody.exec('echo', ['text'])
            expect(result).toStrictEqual({
              ...{ stdout: 'text\\n', stderr: '', all: 'text\\n', exitCode: 0, signal: null, timedOut: false },
              durationMs: expect.any(Number),
            })
            const api = await custody.start({ name: 'api', command: serving, ports: ['http'], ready: { log: /port (?<port>\\d+)/ } })
            expect(api.ports).toStrictEqual({ http: expect.any(Number), port: 80 })
            expect([...api.match]).toStrictEqual(['port 80', '80'])
            expect(api.match.groups).toStrictEqual({ port: '80' })
            expect(api.identity).toStrictEqual({ ...api.identity })
            expect(api.env).toBeInstanceOf(Object)
            expect(custody.namespace).toStrictEqual({ ...custody.namespace, env: { ...custody.namespace.env } })
            expect(await custody.runtimes()).toStrictEqual([])
            const receipt = await api.stop()
            expect(receipt).toBeInstanceOf(Object)
            expect(receipt.left).toStrictEqual([])
            expect(receipt.signals).toStrictEqual(['SIGTERM'])
            expect(await api.exited).toStrictEqual({ code: null, signal: 'SIGTERM', expected: true })
            await leave('obeying')
            const [runtime, ...others] = await custody.runtimes()
            expect(others).toStrictEqual([])
            expect(runtime).toStrictEqual({ ...runtime, evidence: { ...runtime.evidence } })
            const retired = await custody.retire(runtime.locator)
            expect(retired.steps).toBeInstanceOf(Array)
          })
          test('what is passed may be of the realm', async () => {
            const env = Object.assign(Object.create(null), { GIVEN: 'by the test' })
            const { stdout } = await custody.exec('sh', Object.freeze(['-c', 'echo $GIVEN']), { env })
            expect(stdout).toBe('by the test\\n')
            await custody.start({ name: 'api', command: ({ dir }) => ['sh', '-c', 'echo up in ' + dir + '; exec sleep 300'], ready: [{ log: /^up in/m }] })
          })`,
      },
    }))

    test.each([
      'an error is an Error and a CustodyError',
      'matchers know its class, its text and its code',
      'so do those of what throws at once',
      'what the test itself throws comes back as it is',
      'its class is another after jest.resetModules, and its code is not',
      'promises are those of the test',
      'data is strictly equal',
      'what is passed may be of the realm',
    ])('%s', (title) => {
      expect(suite().test(title).status, suite().output).toBe('passed')
    })

    test.each([
      ['a start that rejects', 'rejects here', 'await custody.start(broken)'],
      ['a command that fails', 'fails here', "await custody.exec('false')"],
      ['a name that is taken', 'throws here', "custody.openNamespace('taken')"],
    ])('%s shows the line of the call, and none of ours', (title, comment, call) => {
      const { output } = suite()
      const [, block = ''] = output.split(`● ${title}\n`)
      const [place = '', line = ''] = suite().placeOf(comment).split(':')
      expect(block, output).toContain(`> ${line} |             ${call} // ${comment}`)
      const frames = block.slice(0, block.indexOf('\n  ●')).match(/^ +at .*$/gm) ?? []
      expect(frames[0]).toContain(`${place}:${line}:`)
      expect(frames.join('\n')).not.toMatch(/index\.c[jt]s|@custody|wrap-tree/)
    })
  })
})
