// Takes each check out of the modules that keep harm away, one at a time, and runs their tests: one that no test misses is dead, or
// untested. `node test/mutants/run.mjs [--jobs=<n>] [--verbose] [module…]` takes all or some of `modules.mjs`, after a build.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Box } from './box.mjs'
import { findChecks, markChecks } from './find-checks.mjs'
import { modules } from './modules.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string', default: String(availableParallelism()) }, verbose: { type: 'boolean', default: false } },
})
const boxes = Array.from({ length: Number(values.jobs) }, () => new Box())
const sum = { checks: 0, noticed: 0, spared: 0 }
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(modules)) await runModule(name)
} finally {
  await Promise.all(boxes.map((box) => box.close()))
}
console.log(`${sum.checks} checks, ${sum.noticed} noticed, ${sum.spared} spared`)

async function runModule(name) {
  const { file, spared = {}, tests } = modules[name]
  const path = join(root, file)
  const code = readFileSync(path, 'utf8')
  const checks = findChecks(code, file.endsWith('.ts') ? 'ts' : 'js')
  const begun = performance.now()
  // Without anything taken out: that its tests pass, how long they take, and who of them looks at what.
  const whole = { path, tests, code: markChecks(code, checks), ids: null }
  const { failure, reached } = await boxes[0].run(whole, 600_000)
  if (failure !== null) throw new Error(`The tests of ${name} fail as it is: ${failure}`)
  const limitMs = 10_000 + 3 * (performance.now() - begun)

  const queue = [...checks.entries()]
  const found = new Map()
  const work = async (box) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, { line, shown, without }] = next
      const mutant = { path, tests, code: without }
      const looking = reached.filter(({ checks }) => checks.includes(at))
      const ids = Object.fromEntries(
        tests.map((test) => [test, looking.filter((each) => each.test === test).map(({ id }) => id)]),
      )
      // Those that look at it first. Some do so late, or in another process.
      const first = looking.length > 0 ? await box.run({ ...mutant, ids }, limitMs) : { failure: null }
      const { failure } = first.failure !== null ? first : await box.run({ ...mutant, ids: null }, limitMs)
      found.set(shown, failure)
      if (values.verbose) console.log(`  ${line}: ${shown}\n    ${failure?.split('\n')[0] ?? 'nothing'}`)
    }
  }
  await Promise.all(boxes.map(work))

  const problems = [
    ...checks
      .filter(({ shown }) => found.get(shown) === null && !Object.hasOwn(spared, shown))
      .map(({ line, shown }) => `${file}:${line} nothing notices that this is not there: ${shown}`),
    ...Object.keys(spared)
      .filter((shown) => found.get(shown) !== null)
      .map((shown) => `${file} spared, and ${found.has(shown) ? 'noticed' : 'no check'}: ${shown}`),
  ]
  for (const problem of problems) console.log(`  ${problem}`)
  if (problems.length > 0) process.exitCode = 1
  const noticed = checks.filter(({ shown }) => found.get(shown) !== null).length
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(`${name}: ${checks.length} checks, ${noticed} noticed, ${Object.keys(spared).length} spared (${seconds} s)`)
  sum.checks += checks.length
  sum.noticed += noticed
  sum.spared += Object.keys(spared).length
}
