import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { describeRunners, type RunnerName, type Suite, type SuiteResult, shareSuite, statusesOf } from '../contract/run-suite.js'
import { inSandbox, ONLY_THE_STRANGER } from './in-sandbox.js'

const withoutPidfds = fileURLToPath(new URL('../programs/processes/without-pidfds.py', import.meta.url))

/** A user who is not root, and may write where the run does. */
const ANYBODY = 65_533
const asAnybody = `chown ${ANYBODY} . ./* "$TMPDIR"; set -- setpriv --reuid=${ANYBODY} --regid=${ANYBODY} --clear-groups "$@"`

/** For the inside of a test file: lowers a limit of a party, so that it has nothing more from there on. */
const limiting = `
  const own = path.join(os.tmpdir(), 'custody-' + process.getuid())
  const keepers = () => JSON.parse(fs.readFileSync(path.join(own, fs.readdirSync(own).find((name) => name !== 'ports'), 'run.json'), 'utf8'))
  const limit = (pid, what) => execFileSync('prlimit', ['--pid', String(pid), '--' + what + '=3:'])`

/** One of each: a runtime that publishes, one that is started, and a process that is left. */
const oneOfEach = `
  const daemon = await leave('obeying')
  const { pid } = await custody.start({ name: 'started', command: ['sleep', '301'] })
  const left = spawn('sleep', ['302'], { stdio: 'ignore' })
  left.unref()
  note('pids', { daemon, started: pid, left: left.pid })`

function shareRefused(runner: RunnerName, prepare: string, suite: Suite): () => SuiteResult {
  // Vite would write what it reads the configuration by into node_modules.
  const args = [...(suite.args ?? []), ...(runner === 'vitest' ? ['--configLoader=runner'] : [])]
  return shareSuite(runner, () => ({ ...suite, args, wrapper: inSandbox(prepare) }), 180_000)
}

/** What must hold whatever is refused. */
function leavesNobody(suite: () => SuiteResult): void {
  test('ends everything of the run, and leaves a stranger alone', () => {
    expect(suite().output).toMatch(ONLY_THE_STRANGER)
  })
}

describeRunners('where no more files can be opened', (runner) => {
  describe.sequential('in the supervisor,', () => {
    const suite = shareRefused(runner, '', {
      files: {
        full: `${limiting}
          test('has what it had', async () => { ${oneOfEach}
            limit(keepers().supervisor.pid, 'nofile') })
          test('starts', async () => { await custody.start({ name: 'more', command: ['sleep', '303'] }) })
          test('publishes', async () => { await leave('obeying') })`,
      },
    })

    test('each that needs it is red and says why, and the rest goes on', () => {
      const { exitCode, output, receiptsOf, test } = suite()
      expect([exitCode, statusesOf(suite())], output).toMatchObject([
        1,
        { 'has what it had': 'failed', starts: 'failed', publishes: 'passed' },
      ])
      expect(test('has what it had').messages).toMatch(
        /Could not settle .*has what it had: the supervisor has failed: EMFILE: too many open files/,
      )
      expect(test('starts').messages).toMatch(/Could not start runtime "more": .*EMFILE/)
      expect(receiptsOf('obeying')).toMatchObject([
        { verdict: 'owned', exit: 'observed' },
        { verdict: 'owned', exit: 'observed' },
      ])
    })
    leavesNobody(suite)
  })

  describe.sequential('in the worker,', () => {
    const suite = shareRefused(runner, '', {
      files: {
        full: `${limiting}
          test('has what it had', async () => { ${oneOfEach}
            limit(process.pid, 'nofile') })`,
        beside: `test('is beside it', () => {})`,
      },
      args: runner === 'jest' ? ['-w', '2'] : [],
    })

    test('its test is red and says why', () => {
      const { exitCode, output } = suite()
      expect(exitCode, output).toBe(1)
      expect(output).toMatch(/Could not (settle|note what came of) .*has what it had: EMFILE: too many open files/)
    })
    leavesNobody(suite)
  })

  describe.sequential('in a runtime,', () => {
    const suite = shareRefused(runner, '', {
      files: {
        full: `${limiting}
          test('has one', async () => limit(await leave('obeying'), 'nofile'))
          test('comes after it', () => {})`,
      },
    })

    test('its test is red, and says that nobody answers', () => {
      const { exitCode, output, receiptsOf, test } = suite()
      expect([exitCode, statusesOf(suite())], output).toMatchObject([1, { 'has one': 'failed', 'comes after it': 'passed' }])
      expect(test('has one').messages).toMatch(
        /Could not retire runtime "obeying" \(pid \d+\): (nobody answers there|it closes every connection), and its process is alive\./,
      )
      expect(receiptsOf('obeying')).toMatchObject([{ verdict: 'unreachable', exit: 'not observed' }])
      expect(output).toMatch(/custody {2}ended with the run: pid \d+ {2}.*obeying\.js/)
    })
    leavesNobody(suite)
  })
})

describeRunners('where no more processes can be started in the supervisor', (runner) => {
  const suite = shareRefused(runner, asAnybody, {
    files: {
      full: `${limiting}
        test('starts', async () => {
          await custody.start({ name: 'first', command: ['sleep', '301'] })
          limit(keepers().supervisor.pid, 'nproc')
          await custody.start({ name: 'more', command: ['sleep', '302'] })
        })`,
    },
  })

  test('says that it could not be started, and ends the others', () => {
    const { exitCode, output, receiptsOf, test } = suite()
    expect(exitCode, output).toBe(1)
    expect(test('starts').messages).toMatch(/Could not start runtime "more": .*EAGAIN/)
    expect(receiptsOf('first')).toMatchObject([{ verdict: 'owned', forced: false, left: [] }])
  })
  leavesNobody(suite)
})

describeRunners('without /proc', (runner) => {
  describe.sequential.each(['0', '2'])('at level %s at most', (level) => {
    const suite = shareRefused(runner, 'mount -t tmpfs tmpfs /proc', {
      env: { CUSTODY_LEVEL: level },
      files: { blind: `test('has one of each', async () => { ${oneOfEach} })` },
    })

    test('ends what it has started itself, asks who has proved itself to leave, and ends nobody by guess', () => {
      const { exitCode, output, receiptsOf, test } = suite()
      expect(exitCode, output).toBe(1)
      expect(receiptsOf('started')).toMatchObject([{ exit: { code: null, signal: 'SIGTERM' }, forced: false, left: [] }])
      expect(test('has one of each').messages).toContain('it accepted the shutdown, but its process cannot be seen from here')
      expect(output).toMatch(/^left alive: sleep 97531 ; sleep 302 ; $/m)
    })

    test('says that what was left could not be looked for', () => {
      expect(suite().output).toContain('custody  warning: this system does not show its processes (/proc)')
    })
  })
})

describeRunners("where /proc hides what is not the own user's", (runner) => {
  const prepare = `cp "$(command -v sleep)" hidden; chmod 4755 hidden; mount -o remount,hidepid=2 /proc; ${asAnybody}; chown 0 hidden; chmod 4755 hidden`
  const suite = shareRefused(runner, prepare, {
    // From level 1 on a process is held from its start, and its number does not matter.
    env: { CUSTODY_LEVEL: '0' },
    files: {
      hidden: `
        test('starts what is hidden', async () => { await custody.start({ name: 'hidden', command: [path.resolve('hidden'), '301'] }) })
        test('starts and leaves what is not', async () => {
          await leave('obeying')
          await custody.start({ name: 'seen', command: ['sleep', '302'] })
        })`,
    },
  })

  test('ends both', () => {
    const { exitCode, output, receiptsOf } = suite()
    expect(exitCode, output).toBe(0)
    for (const name of ['hidden', 'seen'])
      expect(receiptsOf(name), name).toMatchObject([{ exit: { code: null, signal: 'SIGTERM' }, forced: false, left: [] }])
    expect(receiptsOf('obeying')).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
  })
  leavesNobody(suite)
})

describe.concurrent.each([
  ['ENOSYS', 'knows none'],
  ['EPERM', 'forbids them'],
])('where pidfds are refused with %s', (code) => {
  const suite = shareRefused(
    'vitest',
    `export REFUSED=${code}; mount -o remount,ro /sys/fs/cgroup 2> /dev/null; set -- python3 ${withoutPidfds} "$@"`,
    {
      files: {
        plain: `test('has one of each', async () => { ${oneOfEach}
      left.kill()
      await new Promise((resolve) => left.once('exit', resolve)) })`,
      },
    },
  )

  test('does without them, and says the level', () => {
    const { exitCode, output, receiptsOf, summary } = suite()
    expect(exitCode, output).toBe(0)
    expect(summary.level).toBe(0)
    expect(receiptsOf('started')).toMatchObject([{ exit: { code: null, signal: 'SIGTERM' }, forced: false, left: [] }])
  })
  leavesNobody(suite)
})
