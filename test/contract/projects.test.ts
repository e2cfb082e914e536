import { expect, test } from 'vitest'
import { describeRunners, type RunnerName, runners, runSuite, shareSuite } from './run-suite.js'

const report = `{ report: { json: 'custody.json' } }`

/** Two projects that have the same files in the same run. */
const configs: Record<RunnerName, string> = {
  vitest: `
    import { custodyPlugin } from '@custody/vitest/plugin'
    const project = (name) => ({ extends: true, test: { name, env: { PROJECT: name } } })
    export default { plugins: [custodyPlugin(${report})], test: { include: ['*.check.mjs'], projects: ['a', 'b'].map(project) } }`,
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
