import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { account } from '../measure/account.mjs'
import { scratch } from '../measure/scratch.mjs'
import { commands, writeTrivialProject } from '../measure/trivial-project.mjs'

const shapes = {
  'vitest-1000': { runner: 'vitest', tests: 1_000, files: 1 },
  'vitest-1000-in-20': { runner: 'vitest', tests: 1_000, files: 20 },
  'vitest-10000': { runner: 'vitest', tests: 10_000, files: 1 },
  'vitest-10000-in-20': { runner: 'vitest', tests: 10_000, files: 20 },
  'jest-1000': { runner: 'jest', tests: 1_000, files: 1 },
  'jest-1000-in-20': { runner: 'jest', tests: 1_000, files: 20 },
  'jest-10000': { runner: 'jest', tests: 10_000, files: 1 },
  'jest-10000-in-20': { runner: 'jest', tests: 10_000, files: 20 },
  'jest-100-in-100': { runner: 'jest', tests: 100, files: 100 },
}
const goal = { of: 'ratio', atMost: 1.1, text: 'at most 1.1 of the floor' }

/** What Custody adds to tests that start nothing. */
export const bench = {
  about:
    'Runs trivial tests with the real runner, in one file or in several. The floor is an empty auto fixture under Vitest, and an ' +
    'environment with an empty handleTestEvent under Jest.',
  contestants: ['bare', 'floor', 'custody'],
  cases: Object.keys(shapes),
  rounds: 10,
  metrics: [
    { key: 'wallMs', title: 'The whole run, ms', digits: 0, goal },
    { key: 'cpuMs', title: 'CPU time of all its processes, that of the supervisor included, ms', digits: 0, goal },
    {
      key: 'testsMs',
      title: 'The tests alone, from their start to their end as the runner reports it, of all files together, ms',
      digits: 0,
      goal,
    },
  ],

  async open(contestant, name) {
    const shape = shapes[name]
    const directory = scratch()
    const results = join(directory, 'results.json')
    writeTrivialProject(directory, { ...shape, contestant })
    // What runner and Custody keep in between goes with the rest.
    const env = { ...process.env, CI: 'true', NO_COLOR: '1', TMPDIR: join(directory, 'tmp') }
    mkdirSync(env.TMPDIR)
    return {
      async measure() {
        rmSync(results, { force: true })
        const used = await account([process.execPath, ...commands[shape.runner]], { cwd: directory, env })
        const { numPassedTests, testResults } = JSON.parse(readFileSync(results, 'utf8'))
        if (numPassedTests !== shape.tests) throw new Error(`${numPassedTests} of ${shape.tests} tests have passed`)
        const testsMs = testResults.reduce((sum, { endTime, startTime }) => sum + endTime - startTime, 0)
        return { ...used, testsMs }
      },
    }
  },
}
