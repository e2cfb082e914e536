// Takes out each check of the modules on which no harm depends, one at a time, and runs their tests: one that no test misses is dead, or untested.
// `node test/mutants/run.mjs [module…]` takes all or some of the modules below.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const core = 'packages/core/src'

/** Each module with the tests that are to miss its checks, and the checks that nothing can miss, with the reason. */
const modules = {
  judge: { file: 'core/src/provenance/judge.ts', tests: [`${core}/provenance/judge.test.ts`] },
  prove: { file: 'core/src/provenance/prove.ts', tests: [`${core}/provenance/prove.test.ts`] },
  'own-processes': {
    file: 'core/src/provenance/own-processes.ts',
    tests: [`${core}/provenance/own-processes.test.ts`, `${core}/provenance/prove.test.ts`],
  },
  retire: { file: 'core/src/retire/retire.ts', tests: [`${core}/scope/scope.test.ts`, `${core}/provenance/prove.test.ts`] },
  'observe-exit': { file: 'core/src/retire/observe-exit.ts', tests: [`${core}/retire/observe-exit.test.ts`] },
  'send-signal': {
    file: 'core/src/tree/send-signal.ts',
    tests: [`${core}/tree/send-signal.test.ts`, `${core}/tree/stop-tree.test.ts`],
  },
  ownership: { file: 'runtime/src/serve/ownership.ts', tests: ['packages/runtime/src/serve/ownership.test.ts'] },
  proof: {
    file: 'runtime/src/wire/proof.ts',
    tests: ['packages/runtime/src/wire/proof.test.ts', 'packages/runtime/src/wire/vectors.test.ts'],
  },
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(modules)
const survivors = []
for (const name of names) {
  const { file, tests } = modules[name]
  const checks = await listChecks(file, tests)
  const survived = []
  for (const [at, { shown }] of checks.entries()) {
    if ((await runTests(tests, { CUSTODY_MUTANT: `${file}#${at}` })) === 0) survived.push(shown)
  }
  console.log(`${name}: ${checks.length} checks, ${checks.length - survived.length} are missed when they are taken out`)
  for (const shown of survived) console.log(`  SURVIVED  ${shown}`)
  survivors.push(...survived)
}
process.exitCode = survivors.length === 0 ? 0 : 1

async function listChecks(file, tests) {
  const directory = mkdtempSync(join(tmpdir(), 'mutants-'))
  try {
    const list = join(directory, 'checks.json')
    const code = await runTests(tests, { CUSTODY_MUTANT: file, CUSTODY_MUTANT_LIST: list })
    if (code !== 0) throw new Error(`The tests of ${file} fail as it is.`)
    return JSON.parse(readFileSync(list, 'utf8'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function runTests(tests, env) {
  const args = ['vitest', 'run', '--config', 'test/mutants/vitest.config.ts', '--reporter=dot', ...tests]
  const vitest = spawn('npx', ['--no-install', ...args], { cwd: root, env: { ...process.env, ...env }, stdio: 'ignore' })
  return new Promise((resolve) => vitest.on('exit', (code) => resolve(code)))
}
