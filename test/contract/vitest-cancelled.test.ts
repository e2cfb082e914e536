import { describe, expect, test } from 'vitest'
import { gone } from './alive.js'
import { noteProcess, readNoted } from './noted.js'
import { majorOf, runners, shareSuite, statusesOf } from './run-suite.js'

// Vitest 3 lets the tests that run come to their end.
const givesUp = runners.includes('vitest') && majorOf('vitest') > 3

describe.runIf(givesUp)('a test that Vitest gives up while it runs, as another is one too many for bail,', () => {
  const suite = shareSuite('vitest', () => ({
    args: ['--bail=1', '--maxWorkers=2'],
    files: {
      failing: `
        test('fails', async () => {
          const names = ['up-1', 'up-2', 'up-3']
          while (!names.every((name) => fs.existsSync(name))) await new Promise((resolve) => setTimeout(resolve, 20))
          throw new Error('this one is one too many')
        })`,
      innocent: `
        ${noteProcess}
        const never = new Promise(() => {})
        let server
        afterAll(async () => {
          server.kill()
          await new Promise((resolve) => server.once('exit', resolve))
        })
        test.concurrent('ends its process itself', async () => {
          server = spawn('sleep', ['422'], { stdio: 'ignore' })
          const child = spawn('sleep', ['420'], { stdio: 'ignore' })
          for (const { pid } of [server, child]) noteProcess(pid)
          fs.writeFileSync('up-1', '')
          await never
          child.kill()
        })
        test.concurrent('waits for a command', () => custody.exec('sh', ['-c', 'touch up-2; exec sleep 421']))
        test.concurrent('waits for a runtime', () =>
          custody.start({ name: 'api', command: ['sh', '-c', 'touch up-3; exec sleep 423'], ready: { file: 'never' } }))`,
    },
  }))

  test('is skipped, as without Custody, and so is its file', () => {
    const { exitCode, output } = suite()
    expect(exitCode, output).toBe(1)
    expect(statusesOf(suite()), output).toMatchObject({ fails: 'failed', 'ends its process itself': 'skipped' })
    expect(output).toMatch(/Test Files .*1 failed \|/)
    expect(output).not.toMatch(/Test Files .*2 failed/)
    expect(output).not.toMatch(/Custody\w*Error/)
  })

  test('has what it left told at the end of the run, and ended', async () => {
    expect(suite().output).toMatch(/custody {2}.*sleep 420/)
    for (const each of readNoted(suite().directory)) await gone(each)
  })
})
