// Runs the tests of one mutant after the other, in a pid namespace of its own; `box.mjs` starts it and tells it which.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** @type {{ path: string, code: string | null, tests: readonly string[], isBuilt: boolean } | null} */
let mutant = null

// The sources stay as they are: a check is missing only in what Vitest runs.
const plugin = { name: 'mutant', enforce: 'pre', load: (id) => (id === mutant?.path && !mutant.isBuilt ? mutant.code : null) }
const options = { root, config: false, watch: false, bail: 1, testTimeout: 120_000, hookTimeout: 120_000 }
const vitest = await createVitest(
  'test',
  { ...options, pool: 'forks', fileParallelism: false, reporters: [{}] },
  { plugins: [plugin] },
)

process.on('message', async (next) => {
  mutant = next
  const { code, isBuilt, path, tests } = next
  vitest.invalidateFile(path)
  const unmount = isBuilt && code !== null ? mountOver(path, code) : () => {}
  try {
    const [project] = vitest.projects
    const specifications = tests.map((test) => project.createSpecification(join(root, test)))
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
    // Those of earlier runs are among them.
    const own = testModules.filter(({ moduleId }) => specifications.some((each) => each.moduleId === moduleId))
    process.send(failureIn(own) ?? unhandledErrors.map((error) => String(error?.message ?? error))[0] ?? null)
  } finally {
    unmount()
  }
})
process.send('ready')

/** Has the processes of this mount namespace, which is the box's, read another text at a path. */
function mountOver(path, code) {
  const file = join(tmpdir(), 'mutant.js')
  writeFileSync(file, code)
  execFileSync('mount', ['--bind', file, path])
  return () => execFileSync('umount', [path])
}

/** The first that failed, and why; null when all have passed. */
function failureIn(testModules) {
  for (const each of testModules) {
    for (const test of each.children.allTests('failed')) return `${test.fullName}: ${test.result().errors[0]?.message}`
    if (!each.ok()) return `${each.moduleId}: ${each.errors()[0]?.message}`
  }
  return null
}
