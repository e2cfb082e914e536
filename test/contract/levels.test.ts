import { accessSync, constants, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { groupOfRun } from '../../packages/core/src/platform/control-groups.js'
import { gone, isAlive } from './alive.js'
import { readNoted } from './noted.js'
import { runSuite } from './run-suite.js'

/** The highest level that this machine has. koffi is installed with this repository. */
const highest = process.platform !== 'linux' ? 0 : isGroupWritable() ? 2 : 1

function isGroupWritable(): boolean {
  try {
    accessSync(dirname(groupOfRun('any') ?? '/nonexistent'), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** A process of which nothing shows whose it is: after the stop of its runtime, and after the run. */
const left = [
  { level: 0, afterStop: true, afterRun: true },
  { level: 1, afterStop: true, afterRun: false },
  { level: 2, afterStop: false, afterRun: false },
]

const body = `
  const notes = path.resolve('noted-traceless')
  const noted = () => fs.readFileSync(notes, 'utf8').trim().split('\\n').map((line) => Number(line.split(' ')[0]))
  const until = async (holds) => { while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20)) }
  const groupOf = (pid) => /^0::(.*)$/m.exec(fs.readFileSync('/proc/' + pid + '/cgroup', 'utf8'))?.[1]
  test('leaves no trace', async () => {
    const { instance, pid, stop } = await custody.start({
      name: 'traceless', ready: { log: 'up' },
      command: ['sh', path.join(programs, 'trees/leaving-no-trace.sh'), notes, path.resolve('end')],
    })
    if (process.env.CUSTODY_LEVEL === '2' && process.env.HIGHEST === '2') await until(() => groupOf(pid).endsWith(instance))
    fs.writeFileSync(notes + '.go', '')
    await until(() => noted().length === 2)
    await stop()
    note('left', isAlive(noted()[1]))
  })`

describe.each(left.filter(({ level }) => level <= highest))('at level $level', ({ afterRun, afterStop, level }) => {
  test('ends what shows nothing of where it was born as early as the level allows', async () => {
    const env = { CUSTODY_LEVEL: String(level), HIGHEST: String(highest) }
    const { directory, exitCode, notes, output, summary } = await runSuite('vitest', { env, files: { traceless: body } })
    expect(exitCode, output).toBe(0)
    expect(summary.level).toBe(level)
    expect(output).toContain(`level ${level}`)
    expect(notes['left'], output).toBe(afterStop)
    const [, traceless] = readNoted(directory)
    if (traceless === undefined) throw new Error(`nobody was noted:\n${output}`)
    expect(isAlive(traceless)).toBe(afterRun)
    if (!afterRun && !afterStop) expect(output).not.toContain('ended with the run')
    if (!afterRun && afterStop) expect(output).toContain(`ended with the run: pid ${traceless.pid}`)
    writeFileSync(join(directory, 'end'), '')
    await gone(traceless)
  })
})

const elsewhere = `
  test('has a daemon in a pid namespace', async () => {
    const daemon = path.join(programs, 'daemons/obeying.js')
    const asRoot = process.geteuid() === 0 ? [] : ['--map-root-user']
    const child = spawn('unshare', [...asRoot, '--pid', '--fork', process.execPath, daemon, path.join(custody.namespace.dir, 'obeying.json')], { detached: true, stdio: 'ignore' })
    note('pid', child.pid)
    while ((await custody.runtimes()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    note('verdict', (await custody.runtimes())[0].verdict)
  })`

test.each([0, 1].filter((level) => level <= highest))('at level %i: a runtime of another pid namespace', async (level) => {
  const { exitCode, notes, output, receipts } = await runSuite('vitest', {
    env: { CUSTODY_LEVEL: String(level) },
    files: { elsewhere },
  })
  expect(notes['verdict'], output).toBe('owned')
  // It left in both cases: only held it can be seen to.
  if (level === 0) {
    expect(exitCode).toBe(1)
    expect(output).toContain('its process cannot be seen from here')
  } else {
    expect(exitCode, output).toBe(0)
    expect(receipts).toMatchObject([{ verdict: 'owned', exit: 'observed', identity: { pid: 1 }, left: [] }])
  }
})

test('refuses a level that there is not', async () => {
  const { exitCode, output } = await runSuite('vitest', { env: { CUSTODY_LEVEL: '3' }, files: { any: `test('any', () => {})` } })
  expect(exitCode).not.toBe(0)
  expect(output).toContain('Could not read CUSTODY_LEVEL: it is "3"')
})
