import { describe, expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { describeRunners, majorOf, type RunnerName, runners, runSuite, shareSuite } from './run-suite.js'

const plainJest = `testMatch: ['**/*.check.cjs'], transform: {}, rootDir: import.meta.dirname,`

/** A global teardown that says whether the process of the file `pid` is alive. */
const looking = `
  const { appendFileSync, existsSync, readFileSync } = require('node:fs')
  const look = () => appendFileSync('notes.jsonl', JSON.stringify(['alive', existsSync('/proc/' + readFileSync('pid') + '/exe')]) + '\\n')`

/** A project with a global teardown of its own. */
const withTeardown: Record<RunnerName, string> = {
  vitest: `
    import { custodyPlugin } from '@custody/vitest/plugin'
    export default { plugins: [custodyPlugin()], test: { include: ['*.check.mjs'], testTimeout: 30_000, globalSetup: ['./own-setup.mjs'] } }`,
  jest: `
    import { withCustody } from '@custody/jest/config'
    export default withCustody({ ${plainJest} globalTeardown: '<rootDir>/own-teardown.cjs' })`,
}

describeRunners('a global teardown', (runner) => {
  const suite = shareSuite(runner, () => ({
    config: withTeardown[runner],
    extras: {
      'own-setup.mjs': `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${looking}\nexport default () => look`,
      'own-teardown.cjs': `${looking}\nmodule.exports = look`,
    },
    files: {
      sharing: `
        test('shares a server', async () => {
          const { pid } = await custody.shared({ scope: 'run', name: 'server', command: ['node', path.join(programs, 'servers/answering-http.js')], ports: ['http'], ready: { port: 'http' } })
          fs.writeFileSync('pid', String(pid))
        })`,
    },
  }))

  test('may remove what servers of the run have needed: they have ended before', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    expect(suite().notes).toEqual({ alive: false })
  })
})

const stubborn = `
  const { spawn } = require('node:child_process')
  const { appendFileSync } = require('node:fs')
  const server = () => {
    const child = spawn('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'], { stdio: ['ignore', 'pipe', 'ignore'] })
    appendFileSync('notes.jsonl', JSON.stringify(['server', child.pid]) + '\\n')
    return new Promise((resolve) => child.stdout.once('data', () => resolve(child)))
  }
  const refused = (child) => { child.kill(); throw new Error('the server refuses to die') }`

/** A project whose global teardown throws. */
const withStubborn: Record<RunnerName, string> = {
  vitest: withTeardown.vitest,
  jest: `
    import { withCustody } from '@custody/jest/config'
    export default withCustody({ ${plainJest} globalSetup: '<rootDir>/own-setup.cjs', globalTeardown: '<rootDir>/own-teardown.cjs' })`,
}

// B06
describeRunners('a server that its own teardown cannot end', (runner) => {
  const suite = shareSuite(runner, () => ({
    config: withStubborn[runner],
    extras: {
      'own-setup.mjs': `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${stubborn}
        export default async () => { const child = await server(); return () => refused(child) }`,
      'own-setup.cjs': `${stubborn}\nmodule.exports = async () => { globalThis.child = await server() }`,
      'own-teardown.cjs': `${stubborn}\nmodule.exports = () => refused(globalThis.child)`,
    },
    files: { any: `test('is green', () => {})` },
  }))

  test('makes the run red, and is gone', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(new RegExp(`pid ${notes['server']} +sh -c`))
    expect(hasProgram(notes['server'])).toBe(false)
  })
})

describe.runIf(runners.includes('jest'))('a global setup of a project of Jest', () => {
  const leaving = `
    const { spawn } = require('node:child_process')
    module.exports = () => {
      spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).unref()
      globalThis.ending = spawn('sleep', ['301'], { stdio: 'ignore', detached: true })
    }`
  const ending = `
    const { once } = require('node:events')
    module.exports = async () => {
      globalThis.ending.kill()
      await once(globalThis.ending, 'exit')
    }`
  const project = (name: string) =>
    `{ displayName: '${name}', rootDir: import.meta.dirname, testMatch: ['**/*.check.cjs'], transform: {}`
  const config = `
    import { withCustody } from '@custody/jest/config'
    export default withCustody({
      projects: [
        ${project('other')} },
        ${project('leaving')}, globalSetup: '<rootDir>/leaving.cjs', globalTeardown: '<rootDir>/ending.cjs' },
      ],
    }, { timeouts: { exitMs: 100 } })`

  test.each([
    ['in workers', ['-w', '2']],
    ['in its own process', ['-i']],
  ])('makes the run red for what it leaves, and for nothing that its teardown ends, with tests %s', async (_, args) => {
    const { exitCode, output } = await runSuite('jest', {
      config,
      args,
      extras: { 'leaving.cjs': leaving, 'ending.cjs': ending },
      files: { any: `test('is green', () => {})` },
    })
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/pid \d+ {2}sleep 300/)
    expect(output).toContain('leaving.cjs:4:')
    expect(output).not.toContain('sleep 301')
    expect(hasProgram(Number(/pid (\d+) {2}sleep 300/.exec(output)?.[1]))).toBe(false)
  })
})

describe.runIf(runners.includes('vitest'))('a global setup of a project of Vitest', () => {
  const leaving = `
    import { spawn } from 'node:child_process'
    export default () => { spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).unref() }`
  const ending = `
    import { spawn } from 'node:child_process'
    export default () => {
      const child = spawn('sleep', ['301'], { stdio: 'ignore', detached: true })
      const ended = new Promise((resolve) => child.once('exit', resolve))
      return () => { child.kill(); return ended }
    }`
  const projects = (inherits: boolean, first: string) => `
    import { custodyPlugin } from '@custody/vitest/plugin'
    const project = (name) => ({ extends: ${inherits}, test: { name, include: ['*.check.mjs'], testTimeout: 30_000, globalSetup: ['./' + name + '.mjs'] } })
    export default { plugins: [custodyPlugin()], test: { projects: ['${first}', 'leaving', 'ending'].map(project) } }`
  const extras = {
    'leaving.mjs': leaving,
    'ending.mjs': ending,
    'plain.mjs': 'export default () => {}',
  }

  // B04
  test.each([
    ['inherits from the root', true],
    ['inherits nothing', false],
  ])('makes the run red for what it leaves when it %s, and for nothing that it ends itself', async (_, inherits) => {
    const { exitCode, output } = await runSuite('vitest', {
      config: projects(inherits, 'plain'),
      extras,
      files: { any: `test('is green', () => {})` },
    })
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/pid \d+ {2}sleep 300/)
    expect(output).toContain('leaving.mjs:')
    expect(output).not.toContain('sleep 301')
    const pid = Number(/pid (\d+) {2}sleep 300/.exec(output)?.[1])
    expect(hasProgram(pid)).toBe(false)
  })
})

// Before Vitest 4 its own errors there have no lines of the source either.
describe.runIf(runners.includes('vitest') && majorOf('vitest') >= 4)('a global setup of Vitest in TypeScript', () => {
  const typed = `
import { spawn } from 'node:child_process'

interface Server {
  readonly seconds: string
}

export default function setup(): void {
  const server: Server = { seconds: '302' }
  spawn('sleep', [server.seconds], { stdio: 'ignore' })
}`

  test('is told the line of its source for what it leaves', async () => {
    const { exitCode, output } = await runSuite('vitest', {
      config: `
      import { custodyPlugin } from '@custody/vitest/plugin'
      export default { plugins: [custodyPlugin({ timeouts: { exitMs: 100 } })], test: { include: ['*.check.mjs'], globalSetup: ['./typed.ts'] } }`,
      extras: { 'typed.ts': typed },
      files: { any: `test('is green', () => {})` },
    })
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/pid \d+ {2}sleep 302/)
    const line = typed.split('\n').findIndex((each) => each.includes('spawn(')) + 1
    expect(output).toContain(`typed.ts:${line}:`)
  })
})
