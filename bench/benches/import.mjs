import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('../programs/importing.mjs', import.meta.url))
const core = (path) => fileURLToPath(new URL(`../../packages/core/dist/${path}`, import.meta.url))

const modules = {
  floor: ['node:child_process', 'node:net'],
  custody: ['@custody/core/worker'],
  // A worker loads this with the first start of a file.
  'custody and what a start loads': ['@custody/core/worker', core('supervisor/link.js'), core('scope/start-in-scope.js')],
  tinyexec: ['tinyexec'],
  execa: ['execa'],
  'wait-on': ['wait-on'],
  'jest-dev-server': ['jest-dev-server'],
  prool: ['prool'],
}

/** What a worker pays before its first line. */
export const bench = {
  about: 'Imports modules in a new process. The floor is node:child_process and node:net; custody is what every worker loads.',
  contestants: Object.keys(modules),
  rounds: 20,
  metrics: [
    { key: 'wallMs', title: 'Import, ms' },
    { key: 'cpuMs', title: 'CPU time, ms' },
  ],

  async open(name) {
    return {
      async measure() {
        const { stdout } = await promisify(execFile)(process.execPath, [program, ...modules[name]])
        return JSON.parse(stdout)
      },
    }
  },
}
