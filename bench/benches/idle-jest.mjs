import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installCustody, link } from '../measure/install-custody.mjs'
import { scratch } from '../measure/scratch.mjs'
import { commands, trivialTests } from '../measure/trivial-project.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))

const shapes = {
  'per-test': { testsPerFile: 10_000, files: 1 },
  'per-file': { testsPerFile: 1, files: 300 },
}

/** All tests run in Jest's own process, so that it can tell what it has used from the first file to the last. */
const reporter = `
const { writeFileSync } = require('node:fs')
module.exports = class {
  onRunStart() { this.before = process.cpuUsage() }
  onRunComplete() {
    const { system, user } = process.cpuUsage(this.before)
    writeFileSync('measured.json', JSON.stringify({ cpuMs: (system + user) / 1_000 }))
  }
}`

const common = `testMatch: ['**/*.check.cjs'], transform: {}, reporters: ['./reporter.cjs']`
const parts = `globalSetup: '@custody/jest/global-setup', globalTeardown: '@custody/jest/global-teardown'`
const configs = {
  floor: `export default { ${common}, testEnvironment: 'jest-environment-node' }`,
  custody: `import { withCustody } from '@custody/jest/config'\nexport default withCustody({ ${common} })`,
  'custody-environment': `export default { ${common}, ${parts}, testEnvironment: '@custody/jest/environment' }`,
}

/** What Custody adds to a test, and to a file, in which nothing is started. */
export const bench = {
  about:
    'Runs trivial tests with the real Jest in one process, and asks for its CPU time from the first file to the last: the price of a run is ' +
    'not in it. The floor is jest-environment-node; custody is what withCustody sets, custody-environment the environment without the runner.',
  contestants: Object.keys(configs),
  cases: Object.keys(shapes),
  rounds: 15,
  metrics: [{ key: 'unitMs', title: 'CPU time of one test or file, ms', digits: 3 }],

  async open(contestant, name) {
    const { files, testsPerFile } = shapes[name]
    const directory = scratch()
    link(join(root, 'node_modules/jest'), join(directory, 'node_modules/jest'))
    link(join(root, 'packages/jest/node_modules/jest-environment-node'), join(directory, 'node_modules/jest-environment-node'))
    if (contestant !== 'floor') installCustody(directory)
    for (let file = 1; file <= files; file++)
      writeFileSync(join(directory, `trivial-${file}.check.cjs`), trivialTests(testsPerFile))
    writeFileSync(join(directory, 'package.json'), '{}')
    writeFileSync(join(directory, 'reporter.cjs'), reporter)
    writeFileSync(join(directory, 'jest.config.mjs'), configs[contestant])
    const env = { ...process.env, CI: 'true', NO_COLOR: '1', TMPDIR: join(directory, 'tmp') }
    mkdirSync(env.TMPDIR)
    return {
      async measure() {
        await promisify(execFile)(process.execPath, [...commands.jest, '--runInBand'], { cwd: directory, env })
        const { cpuMs } = JSON.parse(readFileSync(join(directory, 'measured.json'), 'utf8'))
        return { unitMs: cpuMs / (files * testsPerFile) }
      },
    }
  },
}
