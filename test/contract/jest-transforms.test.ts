import { describe, expect, test } from 'vitest'
import { pathOfTool, runners, shareSuite, statusesOf } from './run-suite.js'

/** Functions of Jest, as its types are not installed in every home. */
const globals = `
declare const test: (title: string, run: () => unknown) => void
declare const expect: (value: unknown) => { toBe(expected: unknown): void; toBeGreaterThan(expected: number): void; toBeInstanceOf(expected: unknown): void }
`

/** Lines that no compiler keeps, so that a line of the compiled code is not that of the source. */
const types = `
interface Answer {
  readonly isUp: boolean
  readonly why?: string
}
type Answers = Readonly<Record<string, Answer>>
const answers: Answers = { api: { isUp: true } }
`

const lib = `import { spawn, type ChildProcess } from 'node:child_process'
${types}
export function startServer(seconds: number): ChildProcess {
  if (!answers['api']?.isUp) throw new Error('is down')
  return spawn('sleep', [String(seconds)], { stdio: 'ignore' }) // in the lib
}
`

const lineInLib = lib.split('\n').findIndex((line) => line.includes('// in the lib')) + 1

const source = (
  name: string,
  of: string,
) => `import { custody, CustodyError, defineRuntime, type CustodyOptions, type Runtime } from '@custody/jest'
import { startServer } from '${of}'
${globals}${types}
const options: CustodyOptions = { leaks: 'fail' }
const shared = defineRuntime({ name: 'shared', scope: 'file', command: ['sleep', '300'] })
test('${name}: starts', async () => {
  const api: Runtime<'http'> = await custody.start({ name: 'api', ports: ['http'], command: ({ ports }) => ['sh', '-c', 'echo up ' + ports.http + '; exec sleep 300'], ready: { log: 'up' } })
  const port: number = api.ports.http
  expect(port).toBeGreaterThan(0)
  // @ts-expect-error: there is no such port
  expect(api.ports.htpp).toBe(undefined)
  expect((await custody.shared(shared)).name).toBe('shared')
  expect(options.leaks).toBe('fail')
})
test('${name}: runs', async () => {
  const { stdout }: { stdout: string } = await custody.exec('echo', ['ran'])
  expect(stdout).toBe('ran\\n')
  expect(await custody.exec('false').catch((error: unknown) => error)).toBeInstanceOf(CustodyError)
})
test('${name}: starts nothing', () => expect(answers['api']?.isUp).toBe(true))
test('${name}: is rejected', async () => {
  await custody.start({ name: 'failing', command: ['false'], ready: { log: 'never' } }) // rejected ${name}
})
test('${name}: leaks', () => {
  const { pid } = startServer(301) // leaked ${name}
  expect(pid).toBeGreaterThan(1)
})
`

const babel = () =>
  JSON.stringify([
    pathOfTool('babel-jest'),
    {
      ...{ configFile: false, babelrc: false },
      presets: [[pathOfTool('@babel/preset-env'), { targets: { node: 'current' } }], pathOfTool('@babel/preset-typescript')],
    },
  ])
const tsJest = (compilerOptions: object, options: object = {}) =>
  JSON.stringify([
    pathOfTool('ts-jest'),
    {
      ...options,
      // Its own: that of this repository is too new for it.
      compiler: pathOfTool('typescript'),
      tsconfig: {
        target: 'es2022',
        strict: true,
        esModuleInterop: true,
        skipLibCheck: true,
        types: ['node'],
        ...compilerOptions,
      },
    },
  ])
const swc = (options: object = {}) =>
  JSON.stringify([pathOfTool('@swc/jest'), { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, ...options }])

/** What compiles the files of each project. The types are checked by ts-jest alone, unless it takes each file for itself. */
const compilers: Readonly<Record<string, () => string>> = {
  babel,
  swc: () => swc(),
  'ts-jest for CommonJS': () => tsJest({ module: 'commonjs', moduleResolution: 'node' }),
  'ts-jest for nodenext': () => tsJest({ module: 'nodenext', moduleResolution: 'nodenext' }),
  'ts-jest for isolated modules': () => tsJest({ module: 'commonjs', isolatedModules: true }),
}
const names = Object.keys(compilers)
/** What the files of a project are named by. */
const stemOf = (name: string) => name.replaceAll(/\W+/g, '-')

/** Native ES modules, by the language and what compiles them. */
const modules: Readonly<Record<string, () => string>> = {
  JavaScript: () => '{}',
  'TypeScript by swc': () => swc({ module: { type: 'es6' } }),
  'TypeScript by ts-jest': () =>
    tsJest({ module: 'esnext', moduleResolution: 'bundler', isolatedModules: true }, { useESM: true }),
}

/** The same in JavaScript. */
const libModule = `
import { spawn } from 'node:child_process'
export const startServer = (seconds) => spawn('sleep', [String(seconds)], { stdio: 'ignore' }) // in the lib
`

const inModule = (name: string, of: string) => `
import whole, { custody, CustodyError } from '@custody/jest'
import { startServer } from '${of}'
const { stdout } = await custody.exec('echo', ['at the top level'])
const shared = await custody.shared({ name: '${stemOf(name)}', scope: 'file', command: ['sleep', '300'] })
test('${name}: has both exports', () => {
  expect(whole.custody).toBe(custody)
  expect(whole.CustodyError).toBe(CustodyError)
})
test('${name}: has what the top level has started', async () => {
  expect(stdout).toBe('at the top level\\n')
  expect((await custody.exec('kill', ['-0', String(shared.pid)])).exitCode).toBe(0)
})
test('${name}: starts', async () => {
  const { pid } = await custody.start({ name: 'api', command: ['sh', '-c', 'echo up; exec sleep 300'], ready: { log: 'up' } })
  expect(pid).toBeGreaterThan(1)
  expect(await custody.exec('false').catch((error) => error)).toBeInstanceOf(CustodyError)
})
test('${name}: leaks', () => {
  startServer(301) // leaked ${name}
})
`

const config = (projects: readonly string[]) => `
  import { withCustody } from '@custody/jest/config'
  export default withCustody({ testTimeout: 30_000, projects: [${projects.join()}] }, { report: { json: 'custody.json' } })`

const project = (name: string, ending: string, rest: string) =>
  `{ ${rest}, displayName: '${name}', rootDir: import.meta.dirname, testMatch: ['**/${stemOf(name)}.check.${ending}'] }`

describe.runIf(runners.includes('jest'))('jest', () => {
  describe('with TypeScript that is compiled by', () => {
    const suite = shareSuite(
      'jest',
      () => ({
        // They wait more than they work.
        args: ['-w', '3'],
        config: config(names.map((name) => project(name, 'ts', `transform: { '\\\\.ts$': ${compilers[name]?.()} }`))),
        files: {},
        extras: {
          // One each: Jest remembers a file as the first compiler made it.
          ...Object.fromEntries(names.map((name) => [`${stemOf(name)}.lib.ts`, lib])),
          ...Object.fromEntries(names.map((name) => [`${stemOf(name)}.check.ts`, source(name, `./${stemOf(name)}.lib`)])),
        },
      }),
      200_000,
    )

    test.each(names)('%s, custody is kept, and its types are found', (name) => {
      expect(statusesOf(suite()), suite().output).toMatchObject({
        [`${name}: starts`]: 'passed',
        [`${name}: runs`]: 'passed',
        [`${name}: starts nothing`]: 'passed',
        [`${name}: is rejected`]: 'failed',
        [`${name}: leaks`]: 'failed',
      })
    })

    test.each(names)('%s, a start that is rejected shows its line of the source', (name) => {
      const [, block = ''] = suite().output.split(`● ${name}: is rejected\n`)
      const [file = '', line = ''] = suite().placeOf(`// rejected ${name}`).split(':')
      expect(block, suite().output).toContain(`> ${line} |   await custody.start({ name: 'failing'`)
      expect(block).toContain(`(${file}:${line}:17)`)
    })

    test.each(names)('%s, a leak of a helper module shows its line of the source, and names that of the test', (name) => {
      const [, block = ''] = suite().output.split(`● ${name}: leaks\n`)
      expect(block, suite().output).toContain('A process that this test started is still alive.')
      expect(block).toContain(`> ${lineInLib} |   return spawn('sleep', [String(seconds)], { stdio: 'ignore' }) // in the lib`)
      expect(block).toContain(`at startServer (${stemOf(name)}.lib.ts:${lineInLib}:`)
      expect(block).toContain(`(${suite().placeOf(`// leaked ${name}`)}:`)
    })
  })

  describe('with native ES modules, in', () => {
    const suite = shareSuite(
      'jest',
      () => ({
        env: { NODE_OPTIONS: '--experimental-vm-modules' },
        args: ['-w', '3'],
        config: config(
          Object.entries(modules).map(([name, compiler]) =>
            name === 'JavaScript'
              ? project(name, 'mjs', 'transform: {}')
              : project(name, 'ts', `extensionsToTreatAsEsm: ['.ts'], transform: { '\\\\.ts$': ${compiler()} }`),
          ),
        ),
        files: {},
        extras: {
          'lib.mjs': libModule,
          'lib.ts': lib,
          ...Object.fromEntries(
            Object.keys(modules).map((name) =>
              name === 'JavaScript'
                ? [`${stemOf(name)}.check.mjs`, inModule(name, './lib.mjs')]
                : [`${stemOf(name)}.check.ts`, `${globals}${types}${inModule(name, './lib')}`],
            ),
          ),
        },
      }),
      200_000,
    )

    test.each(Object.keys(modules))('%s, custody is kept, also at the top level', (name) => {
      expect(statusesOf(suite()), suite().output).toMatchObject({
        [`${name}: has both exports`]: 'passed',
        [`${name}: has what the top level has started`]: 'passed',
        [`${name}: starts`]: 'passed',
        [`${name}: leaks`]: 'failed',
      })
      expect(suite().receiptsOf(stemOf(name))).toMatchObject([{ forced: false, left: [] }])
    })

    test.each(Object.keys(modules))('%s, a leak names the line of the test', (name) => {
      const [, block = ''] = suite().output.split(`● ${name}: leaks\n`)
      expect(block, suite().output).toContain('A process that this test started is still alive.')
      expect(block).toContain('// in the lib')
      expect(block).toContain(`${suite().placeOf(`// leaked ${name}`)}:`)
    })
  })

  describe.each([
    ['but not of packages', ''],
    ['and of packages', 'transformIgnorePatterns: [],'],
  ])('with a transform of JavaScript too, %s,', (_, rest) => {
    const suite = shareSuite('jest', () => ({
      config: config([project('babel', 'ts', `${rest} transform: { '\\\\.[cm]?[jt]s$': ${babel()} }`)]),
      files: {},
      extras: { 'lib.ts': lib, 'babel.check.ts': source('babel', './lib') },
    }))

    test('custody is kept', () => {
      expect(statusesOf(suite()), suite().output).toEqual({
        'babel: starts': 'passed',
        'babel: runs': 'passed',
        'babel: starts nothing': 'passed',
        'babel: is rejected': 'failed',
        'babel: leaks': 'failed',
      })
      expect(suite().output).toContain(`${suite().placeOf('// leaked babel')}:`)
    })
  })
})
