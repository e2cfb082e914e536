import { expect, test } from 'vitest'
import { describeRunners, shareSuite } from './run-suite.js'

/** A pid namespace of its own, with the first process a shell: a signal that goes astray in it hits nobody outside, and nothing stays. */
const asRoot = process.geteuid?.() === 0 ? [] : ['--map-root-user']
const ownNumbers = [
  'unshare',
  ...asRoot,
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
  '/bin/sh',
  '-c',
  '"$@"; exit $?',
  'sh',
] as const

describeRunners('a number in a locator', (runner) => {
  const suite = shareSuite(runner, () => ({
    wrapper: ownNumbers,
    args: runner === 'jest' ? ['-w', '2'] : [],
    options: { locators: ['kept/*.json'], timeouts: { proofMs: 500 } },
    files: {
      numbers: `
        const kept = (name) => path.join(custody.namespace.dir, 'kept', name + '.json')
        const put = (name, locator) => {
          fs.mkdirSync(path.dirname(kept(name)), { recursive: true })
          fs.writeFileSync(kept(name), JSON.stringify(locator), { mode: 0o600 })
        }
        const startOf = (pid) => {
          const stat = fs.readFileSync('/proc/' + pid + '/stat', 'latin1')
          return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
        }
        const link = (name) => fs.readlinkSync('/proc/self/ns/' + name)
        // As a runtime of this test would have written it that has been killed since.
        const left = (pid, start) => ({
          version: 1, name: 'left', pid, start, boot: fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
          pidns: link('pid'), timens: link('time'), instance: 'ab'.repeat(16), namespace: custody.namespace.id,
          endpoint: 'unix:' + path.join(custody.namespace.dir, 'none.sock'), token: 'cd'.repeat(32), created: '2026-01-01T00:00:00.000Z', details: {},
        })
        let stranger
        let said = ''
        beforeAll(async () => {
          const program = path.join(programs, 'processes/counting-signals.js')
          stranger = spawn(process.execPath, [program], { env: { CUSTODY_NAMESPACE: '' }, stdio: ['ignore', 'pipe', 'ignore'] })
          await new Promise((resolve) => stranger.stdout.on('data', (text) => { said += text; resolve() }))
        })
        afterAll(async () => {
          note('stranger', [said, stranger.exitCode, stranger.signalCode])
          stranger.kill('SIGKILL')
          await new Promise((resolve) => stranger.once('exit', resolve))
        })
        test('is of nobody, or of another', () => {
          const numbers = [stranger.pid, 1, 0, -1, process.pid, process.ppid, 2 ** 22 + 1, '12abc', 1.5, null]
          for (const [at, pid] of numbers.entries()) put(String(at), left(pid, '1'))
          put('self', left(process.pid, startOf(process.pid)))
          put('runner', left(process.ppid, startOf(process.ppid)))
          put('first', left(1, startOf(1)))
        })
        test('is of a stranger, with its start', () => put('stranger', left(stranger.pid, startOf(stranger.pid))))
        test('is of a stranger, beside a right token', async () => {
          fs.mkdirSync(path.dirname(kept('daemon')))
          note('daemon', await leave('obeying', kept('daemon')))
          put('daemon', { ...JSON.parse(fs.readFileSync(kept('daemon'), 'utf8')), pid: stranger.pid, start: startOf(stranger.pid) })
        })`,
      // With a second file Jest has workers, as Vitest has.
      beside: `test('stands beside it', () => {})`,
    },
  }))
  /** The verdicts of a test, by the locators' names. */
  const verdictsOf = (title: string) => {
    const receipts = suite().receipts.filter(({ test }) => test?.endsWith(` ${title}`))
    return Object.fromEntries(receipts.map(({ evidence, verdict }) => [evidence?.path.split('/').at(-1), verdict]))
  }

  // B41
  test('that nobody has, or another process than then, is gone; one that cannot be is no locator; all is green', () => {
    expect(suite().test('is of nobody, or of another').status, suite().output).toBe('passed')
    expect(verdictsOf('is of nobody, or of another')).toEqual({
      ...{ '0.json': 'gone', '1.json': 'gone', '4.json': 'gone', '5.json': 'gone', '6.json': 'gone' },
      ...{ '2.json': 'invalid', '3.json': 'invalid', '7.json': 'invalid', '8.json': 'invalid', '9.json': 'invalid' },
      ...{ 'self.json': 'foreign', 'runner.json': 'foreign', 'first.json': 'foreign' },
    })
  })

  test('of a live stranger makes its test red, and the stranger is left alone', () => {
    expect(suite().test('is of a stranger, with its start').messages).toContain('nobody answers there, and its process is alive')
    expect(verdictsOf('is of a stranger, with its start')).toEqual({ 'stranger.json': 'unreachable' })
  })

  // B35
  test('beside a right token stops nobody: the daemon itself is asked to leave, and says who it is', () => {
    const { notes, output, receipts, test } = suite()
    const own = receipts.filter(({ test }) => test?.endsWith('beside a right token'))
    const identity = expect.objectContaining({ pid: notes['daemon'] })
    expect(own, output).toContainEqual(expect.objectContaining({ exit: 'observed', identity }))
    // By the registry. What the changed file names is the stranger, whose exit nobody has seen.
    expect(test('is of a stranger, beside a right token').messages).toContain('Could not retire runtime "obeying"')
  })

  test('is no reason for a signal', () => {
    expect(suite().notes['stranger'], suite().output).toEqual(['ready\n', null, null])
    expect(suite().receipts.flatMap(({ signals }) => signals)).toEqual([])
  })
})
