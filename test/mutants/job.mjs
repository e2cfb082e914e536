// Runs the tests of one mutant after the other, in a pid namespace of its own; `box.mjs` starts it and tells it which.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'

const root = fileURLToPath(new URL('../..', import.meta.url))
const setupFiles = [fileURLToPath(new URL('note-reached.mjs', import.meta.url))]
/** The files in the order in which they are given, the quickest first. */
class AsGiven {
  sort = (files) => files
  shard = (files) => files
}
const options = { root, config: false, watch: false, bail: 1, testTimeout: 120_000, hookTimeout: 120_000, setupFiles }
const vitest = await createVitest('test', {
  ...options,
  sequence: { sequencer: AsGiven },
  pool: 'forks',
  fileParallelism: false,
  reporters: [{}],
})

process.on('disconnect', () => process.exit())
process.on('message', async ({ code, ids, path, tests }) => {
  const unmount = mountOver(path, code)
  vitest.invalidateFile(path)
  try {
    const [project] = vitest.projects
    const chosen = ids === null ? tests : tests.filter((test) => ids[test]?.length > 0)
    const specifications = chosen.map((test) =>
      project.createSpecification(join(root, test), ids === null ? {} : { testIds: ids[test] }),
    )
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
    // Those of earlier runs are among them.
    const modules = testModules.filter(({ moduleId }) => specifications.some((each) => each.moduleId === moduleId))
    const failure = failureIn(modules) ?? unhandledErrors.map((error) => String(error?.message ?? error))[0] ?? null
    process.send({ failure, reached: failure === null && ids === null ? reachedIn(modules) : [] })
  } finally {
    unmount()
  }
})
process.send('ready')

/** The file stays as it is: only in this mount namespace, which is the box's, it has another text. */
function mountOver(path, code) {
  const file = join(tmpdir(), 'mutant')
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

/** Which checks each test has looked at. */
function reachedIn(testModules) {
  return testModules.flatMap((each) =>
    [...each.children.allTests()].map((test) => ({
      test: relative(root, each.moduleId),
      id: test.id,
      checks: test.meta().reached ?? [],
    })),
  )
}
