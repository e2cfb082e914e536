import { describe, expect, test } from 'vitest'
import { describeRunners, majorOf, type RunnerName, runners, runSuite, shareSuite } from './run-suite.js'

const report = `{ report: { json: 'custody.json' } }`

/** Two projects that have the same files in the same run. */
const configs: Record<RunnerName, string> = {
  vitest: `
    import { custodyPlugin } from '@custody/vitest/plugin'
    const project = (name) => ({ extends: true, test: { name, env: { PROJECT: name } } })
    export default { plugins: [custodyPlugin(${report})], test: { include: ['*.check.mjs'], testTimeout: 30_000, projects: ['a', 'b'].map(project) } }`,
  jest: `
    import { withCustody } from '@custody/jest/config'
    const project = (name) => ({
      displayName: name, rootDir: import.meta.dirname, testMatch: ['**/*.check.cjs'], transform: {}, globals: { PROJECT: name },
    })
    export default withCustody({ projects: ['a', 'b'].map(project) }, ${report})`,
}

// B70
describeRunners('a runtime that two projects of a run define to the letter alike', (runner) => {
  const file = (name: string) => `
    const project = globalThis.PROJECT ?? process.env.PROJECT
    const definition = { scope: 'run', name: 'db', command: ['sh', path.join(programs, 'trees/staying.sh'), path.resolve('noted')] }
    test('asks', async () => note(project + ' ${name}', (await custody.shared(definition)).pid))`
  const suite = shareSuite(runner, () => ({
    config: configs[runner],
    args: runner === 'jest' ? ['-w', '2'] : [],
    files: { one: file('one'), other: file('other') },
  }))

  test('is one for all files of a project, and another one for those of the other', () => {
    const { exitCode, notes, output, receiptsOf } = suite()
    expect(exitCode, output).toBe(0)
    expect([notes['a one'], notes['b one']]).toEqual([notes['a other'], notes['b other']])
    expect(notes['a one']).not.toBe(notes['b one'])
    expect(receiptsOf('db').map(({ identity, left }) => [identity?.pid, left])).toEqual(
      expect.arrayContaining([
        [notes['a one'], []],
        [notes['b one'], []],
      ]),
    )
    expect(receiptsOf('db')).toHaveLength(2)
  })
})

const header: Record<RunnerName, string> = {
  vitest: `
    import { custody } from '@custody/vitest'
    import { test } from 'vitest'
    import { spawn } from 'node:child_process'
    import fs from 'node:fs'`,
  jest: `
    const { custody } = require('@custody/jest')
    const { spawn } = require('node:child_process')
    const fs = require('node:fs')`,
}

const nestedConfigs: Record<RunnerName, (options: string) => string> = {
  vitest: (options) => `
    import { custodyPlugin } from '@custody/vitest/plugin'
    export default { plugins: [custodyPlugin(${options})], test: { projects: ['packages/*'] } }`,
  jest: (options) => `
    import path from 'node:path'
    import { withCustody } from '@custody/jest/config'
    const project = (name) => ({
      displayName: name, rootDir: path.join(import.meta.dirname, 'packages', name), testMatch: ['**/*.check.cjs'], transform: {},
    })
    export default withCustody({ projects: ['a', 'b'].map(project) }, ${options})`,
}

describeRunners('two projects in directories of their own', (runner) => {
  const ending = runner === 'jest' ? 'cjs' : 'mjs'
  const file = (name: string) => `
    ${header[runner]}
    const note = (name, value) => fs.appendFileSync(process.env.NOTES, JSON.stringify(['${name} ' + name, value]) + '\\n')
    const printing = { name: 'pwd', command: ['pwd'], onExit: 'ignore', ready: { log: /.+/ } }
    test('${name} asks where it is', async () => {
      note('exec', (await custody.exec('pwd')).stdout.trim())
      note('exec below', (await custody.exec('pwd', [], { cwd: 'below' })).stdout.trim())
      note('start', (await custody.start(printing)).match[0])
      note('start below', (await custody.start({ ...printing, cwd: 'below' })).match[0])
    })
    test('${name} leaves one', () => { spawn('sleep', ['313'], { cwd: process.env.BELOW + '/packages/${name}/below', stdio: 'ignore' }) })`
  const project = (name: string) => ({
    [`packages/${name}/package.json`]: `{ "name": "${name}" }`,
    [`packages/${name}/vitest.config.mjs`]: `export default { test: { name: '${name}', include: ['*.check.mjs'], testTimeout: 30_000 } }`,
    [`packages/${name}/below/here`]: '',
    [`packages/${name}/same.check.${ending}`]: file(name),
    [`packages/${name}/warned.check.${ending}`]: `
      ${header[runner]}
      test('${name} may leave one', () => { spawn('sleep', ['314'], { stdio: 'ignore' }) })`,
  })
  const suite = shareSuite(runner, () => ({
    config: nestedConfigs[runner](`{
      report: { json: 'custody.json' }, timeouts: { exitMs: 100 },
      overrides: [{ files: 'warned.*', leaks: 'warn' }, { files: 'packages/b/warned.*', leaks: 'fail' }],
    }`),
    wrapper: ['sh', '-c', 'NOTES="$PWD/notes.jsonl" BELOW="$PWD" exec "$@"', 'sh'],
    extras: { ...project('a'), ...project('b') },
    files: {},
  }))

  test.each(['a', 'b'])('have commands and runtimes run in their roots by default: %s', (name) => {
    const { directory, notes, output } = suite()
    const root = `${directory}/packages/${name}`
    expect(notes[`${name} exec`], output).toBe(root)
    expect(notes[`${name} start`]).toBe(root)
    expect([notes[`${name} exec below`], notes[`${name} start below`]]).toEqual([`${root}/below`, `${root}/below`])
  })

  test.each(['a', 'b'])('have files of the same name told apart: %s', (name) => {
    const { messages } = suite().test(`${name} leaves one`)
    expect(messages).toMatch(new RegExp(`started by packages/${name}/same\\.check\\.\\w+ . ${name} leaves one`))
    // What it suggests is relative to the project's root, as custody.start takes it.
    expect(messages).toContain("cwd: 'below'")
    expect(suite().output).toMatch(/packages\/a\/warned\.check\.\w+ . a may leave one left pid \d+: sleep 314/)
  })

  test('have overrides by globs from their own roots, or from that of the run', () => {
    expect(suite().test('a may leave one').status, suite().output).toBe('passed')
    expect(suite().test('b may leave one').status, suite().output).toBe('failed')
  })
})

test.runIf(runners.includes('vitest'))(
  'the plugin of the root holds for projects of Vitest that inherit nothing from it',
  async () => {
    const {
      exitCode,
      output,
      test: outcomeOf,
    } = await runSuite('vitest', {
      config: `
      import { custodyPlugin } from '@custody/vitest/plugin'
      const project = (name) => ({ test: { name, include: [name + '.check.mjs'] } })
      export default { plugins: [custodyPlugin({ allow: [{ argv: ['sleep', '31'], reason: 'a test', until: 'run' }] })],
        test: { projects: ['a', 'b'].map(project) } }`,
      files: {
        a: `test('leaves one', () => { spawn('sleep', ['30'], { stdio: 'ignore' }) })`,
        b: `test('leaves what may be left', () => { spawn('sleep', ['31'], { stdio: 'ignore' }) })`,
      },
    })
    expect(exitCode, output).toBe(1)
    expect([outcomeOf('leaves one').status, outcomeOf('leaves what may be left').status], output).toEqual(['failed', 'passed'])
  },
)

test.runIf(runners.includes('vitest'))(
  'the plugin of the root holds for projects of Vitest by directory and by file',
  async () => {
    const leaking = (title: string) => `
    import { spawn } from 'node:child_process'
    import { custody } from '@custody/vitest'
    import { test } from 'vitest'
    test('${title}', () => { spawn('sleep', ['30'], { stdio: 'ignore' }) })
    test('${title} has a scope', () => custody.namespace.id)`
    const configFor = (name: string, include: string) => `export default { test: { name: '${name}', include: ['${include}'] } }`
    const {
      exitCode,
      output,
      test: outcomeOf,
    } = await runSuite('vitest', {
      config: `
      import { custodyPlugin } from '@custody/vitest/plugin'
      export default { plugins: [custodyPlugin()], test: { projects: ['packages/*', './vitest.unit.config.mjs'] } }`,
      extras: {
        'packages/a/package.json': '{ "name": "a" }',
        'packages/a/vitest.config.mjs': configFor('a', '*.check.mjs'),
        'packages/a/a.check.mjs': leaking('in a directory'),
        'vitest.unit.config.mjs': configFor('unit', 'unit.check.mjs'),
        'unit.check.mjs': leaking('by a file'),
      },
      files: {},
    })
    expect(exitCode, output).toBe(1)
    const statuses = ['in a directory', 'by a file']
      .flatMap((title) => [title, `${title} has a scope`])
      .map((title) => outcomeOf(title).status)
    expect(statuses, output).toEqual(['failed', 'passed', 'failed', 'passed'])
    expect(output).not.toContain('Could not keep custody')
  },
)

/** A test file of a project by directory: one test leaves a process, the other has a scope if Custody is there. */
const leakingFile = (title: string) => `
  import { spawn } from 'node:child_process'
  import { custody } from '@custody/vitest'
  import { test } from 'vitest'
  test('${title} leaks', () => { spawn('sleep', ['30'], { stdio: 'ignore' }) })
  test('${title} has a scope', () => custody.namespace.id)`

/** The head of a configuration file: with the plugin, or without. */
const withPlugin = `import { custodyPlugin } from '@custody/vitest/plugin'
  const plugins = [custodyPlugin({ report: { json: 'custody.json' }, timeouts: { exitMs: 100 } })]`
const withoutPlugin = 'const plugins = []'

// Vitest 5 runs the projects that such a project names; before that it is one as any other.
const whatRuns = majorOf('vitest') < 5 ? ['by directory', 'by file'] : ['by directory', 'by directory', 'within']

describe.runIf(runners.includes('vitest')).each([
  ['of the root', withPlugin, withoutPlugin],
  ['of the project', withoutPlugin, withPlugin],
])('a project of Vitest that has projects of its own, with the plugin %s', (_, atRoot, atProject) => {
  const suite = shareSuite('vitest', () => ({
    config: `${atRoot}
      export default { plugins, test: { projects: ['outer', './by-file/vitest.config.mjs'] } }`,
    extras: {
      'outer/package.json': '{ "name": "outer" }',
      'outer/vitest.config.mjs': `${atProject}
        const inline = { test: { name: 'inline', include: ['*.check.mjs'], testTimeout: 30_000 } }
        const inherits = { extends: true, test: { name: 'inherits' } }
        export default { plugins, test: { name: 'outer', include: ['*.check.mjs'], testTimeout: 30_000, projects: [inline, inherits] } }`,
      'outer/a.check.mjs': leakingFile('by directory'),
      'by-file/vitest.config.mjs': `${atProject}
        export default { plugins, test: { name: 'by-file', include: ['*.check.mjs'], testTimeout: 30_000, projects: ['./inner'] } }`,
      'by-file/b.check.mjs': leakingFile('by file'),
      'by-file/inner/vitest.config.mjs': `export default { test: { name: 'inner', include: ['*.check.mjs'], testTimeout: 30_000 } }`,
      'by-file/inner/c.check.mjs': leakingFile('within'),
    },
    files: {},
  }))

  test('has custody for each that runs', () => {
    const { exitCode, output, tests } = suite()
    expect(exitCode, output).toBe(1)
    const each = tests.map(({ status, title }) => `${title}: ${status}`)
    const expected = whatRuns.flatMap((name) => [`${name} leaks: failed`, `${name} has a scope: passed`])
    expect(each.sort(), output).toEqual(expected.sort())
    expect(output).not.toContain('Could not keep custody')
  })
})

// No browser is started: the project is resolved, the other one runs, and Vitest's reporters are told that both have.
describe.runIf(runners.includes('vitest'))('a project of Vitest that runs in a browser', () => {
  const suite = shareSuite('vitest', () => ({
    wrapper: ['sh', '-c', 'exec "$1" host.mjs', 'sh'],
    config: `
      import { version } from 'vitest/node'
      ${withPlugin}
      const provider = version.startsWith('3') ? 'preview' : (await import('@vitest/browser-preview')).preview()
      const browser = { enabled: true, provider, instances: [{ browser: 'chromium' }] }
      const page = { test: { name: 'page', include: ['page.check.mjs'], browser } }
      export default { plugins, test: { projects: [page, { test: { name: 'unit', include: ['unit.check.mjs'] } }] } }`,
    extras: {
      'host.mjs': `
        import fs from 'node:fs'
        import { fileURLToPath } from 'node:url'
        import { createVitest } from 'vitest/node'
        const own = fileURLToPath(import.meta.resolve('@custody/vitest/runner'))
        const vitest = await createVitest('test', { watch: false, reporters: ['default', 'json'], outputFile: { json: 'results.json' } })
        await vitest.start(['unit'])
        const all = vitest.projects.map(({ config, name }) => [name, config.runner === own])
        fs.writeFileSync('notes.jsonl', JSON.stringify(['managed', Object.fromEntries(all)]) + '\\n')
        for (const reporter of vitest.reporters.filter(({ managed }) => managed !== undefined)) {
          reporter.onTestRunStart()
          await reporter.onTestRunEnd(vitest.projects.map((project) => ({ project })))
        }
        await vitest.close()`,
    },
    files: { page: '', unit: `test('leaks', () => { spawn('sleep', ['30'], { stdio: 'ignore' }) })` },
  }))

  test('is left alone and named, and the others have custody', () => {
    const { notes, output, test: outcomeOf } = suite()
    expect(notes['managed'], output).toEqual({ 'page (chromium)': false, unit: true })
    expect(outcomeOf('leaks').status).toBe('failed')
    expect(output).toContain('Could not keep custody of the project "page (chromium)": it has run without it.')
    expect(output).not.toContain('custody of the project "unit"')
  })
})
