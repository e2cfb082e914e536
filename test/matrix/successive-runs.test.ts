import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gone } from '../contract/alive.js'
import { readKeepers } from '../contract/keepers.js'
import { noteProcess, readNoted, until } from '../contract/noted.js'
import { describeRunners, type RunningSuite, runInProject, shareSuite } from '../contract/run-suite.js'

const body = `
  ${noteProcess}
  const isThere = ([pid, start]) => { try { return fs.readFileSync('/proc/' + pid + '/stat', 'latin1').includes(' ' + start + ' ') } catch { return false } }
  test('has some', async () => {
    const before = fs.existsSync('noted') ? fs.readFileSync('noted', 'utf8').trim().split('\\n').map((line) => line.split(' ')) : null
    const { pid } = await custody.start({ name: 'plain', command: ['sleep', '118'] })
    const own = [pid, await leave('obeying')]
    if (before === null) {
      own.forEach(noteProcess)
      fs.writeFileSync('first', '')
      await new Promise(() => {})
    }
    expect(before.map(isThere)).toEqual([true, true])
    fs.writeFileSync('second', '')
    while (before.some(isThere)) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(own.map(isAlive)).toEqual([true, true])
  }, 50_000)`

/** Ends a runner and holds up who ends what it has left, until a second run has all its own. */
async function runTwice(running: RunningSuite, runSecond: () => ReturnType<typeof runInProject>) {
  const { base, directory, runner } = running
  await until(running, () => existsSync(join(directory, 'first')))
  const pid = readKeepers(base).supervisor.pid
  process.kill(pid, 'SIGSTOP')
  runner.kill('SIGKILL')
  let hasEnded = false
  const second = runSecond().finally(() => {
    hasEnded = true
  })
  while (!hasEnded && !existsSync(join(directory, 'second'))) await setTimeout(20)
  process.kill(pid, 'SIGCONT')
  return second
}

// B45
describeRunners('a run that begins before what a killed one has left is ended', (runner) => {
  let second: ReturnType<typeof runTwice>
  const suite = shareSuite(runner, () => ({
    files: { some: body },
    during: async (running) => {
      second = runTwice(running, () => runInProject(runner, running, []))
      await second
    },
  }))

  test('is left alone with all that it has started, and is green', async () => {
    const { exitCode, output } = await second
    expect(exitCode, output).toBe(0)
    expect(output).toContain('2 runtimes, 2 owned, 2 retired, 2 exits observed')
    for (const each of readNoted(suite().directory)) await gone(each)
  })
})
