import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installCustody, link } from '../measure/install-custody.mjs'
import { scratch } from '../measure/scratch.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = join(root, 'bench/programs/importing.mjs')
const run = promisify(execFile)

const modules = {
  floor: ['node:child_process', 'node:net'],
  custody: ['@custody/core/worker'],
  tinyexec: ['tinyexec'],
  execa: ['execa'],
  'wait-on': ['wait-on'],
  'jest-dev-server': ['jest-dev-server'],
}

const places = {
  'in-node': (specifiers) => async () => {
    const { stdout } = await run(process.execPath, [program, ...specifiers])
    return JSON.parse(stdout)
  },

  // What Vitest needs itself is there by then.
  'in-vitest': (specifiers) => {
    const directory = scratch()
    const installed = (name) => join(directory, 'node_modules', name)
    link(join(root, 'node_modules/vitest'), installed('vitest'))
    for (const name of specifiers.filter((each) => !/^(node:|@custody)/.test(each))) {
      link(join(root, 'bench/node_modules', name), installed(name))
    }
    installCustody(directory)
    // As an installed package: Vitest leaves its imports to Node.
    cpSync(program, installed('importing/index.mjs'))
    writeFileSync(installed('importing/package.json'), '{ "exports": "./index.mjs" }')
    writeFileSync(join(directory, 'vitest.config.mjs'), `export default { test: { include: ['*.check.mjs'] } }`)
    writeFileSync(
      join(directory, 'importing.check.mjs'),
      `import { writeFileSync } from 'node:fs'
import { measureImports } from 'importing'
import { test } from 'vitest'
test('imports', async () => writeFileSync('measured.json', JSON.stringify(await measureImports(${JSON.stringify(specifiers)}))))`,
    )
    return async () => {
      await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], { cwd: directory })
      return JSON.parse(readFileSync(join(directory, 'measured.json'), 'utf8'))
    }
  },
}

/** What a worker pays before its first line. */
export const bench = {
  about:
    'Imports modules in a new process, or in a new worker of Vitest. The floor is node:child_process and node:net; custody is what every ' +
    'worker loads.',
  contestants: Object.keys(modules),
  cases: Object.keys(places),
  rounds: 20,
  metrics: [
    { key: 'wallMs', title: 'Import, ms' },
    { key: 'cpuMs', title: 'CPU time, ms', goal: { of: 'difference', atMost: 5, text: 'at most 5 ms more than the floor' } },
  ],

  async open(name, place) {
    return { measure: places[place](modules[name]) }
  },
}
