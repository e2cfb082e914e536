import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isAlive } from './alive.js'
import { runSuite } from './run-suite.js'

const COUNT = 50

test('asks all of fifty runtimes to leave before it waits for the first', async ({ signal }) => {
  const held = mkdtempSync(join(tmpdir(), 'held-'))
  onTestFinished(() => rmSync(held, { recursive: true }))
  const accepted = () => readdirSync(held).filter((name) => name.startsWith('accepted-')).length
  let acceptedAtRelease = 0

  const result = await runSuite('vitest', {
    // Far beyond what it takes: only a teardown that waits for one before it asks the next would run out of them.
    options: { timeouts: { proofMs: 10_000, graceMs: 20_000, teardownMs: 25_000 } },
    env: { HELD: held },
    files: {
      fifty: `
        const program = path.join(programs, 'daemons/held-until-released.js')
        const start = () => new Promise((resolve, reject) => {
          const child = childProcess.fork(program, { detached: true, stdio: 'ignore', env: { ...process.env, ...custody.namespace.env } })
          child.once('exit', (code) => reject(new Error('exited with code ' + code)))
          child.once('message', () => { child.unref(); resolve() })
        })
        test('starts fifty', async () => {
          let left = ${COUNT}
          const startSome = async () => { while (left-- > 0) await start() }
          // No more at once than a small machine can take.
          await Promise.all(Array.from({ length: 8 }, startSome))
        })`,
    },
    async during() {
      while (accepted() < COUNT && !signal.aborted) await setTimeout(20)
      acceptedAtRelease = accepted()
      writeFileSync(join(held, 'go'), '')
    },
  })

  expect(acceptedAtRelease).toBe(COUNT)
  expect(result.exitCode, result.output).toBe(0)
  expect(result.summary).toMatchObject({ runtimes: COUNT, owned: COUNT, retired: COUNT, exitsObserved: COUNT })
  expect(result.receipts.filter(({ identity }) => identity === null || isAlive(identity))).toEqual([])
})
