import { describe, expect, test } from 'vitest'
import { gone, hasProgram } from './alive.js'
import { noteProcess, readNoted } from './noted.js'
import { describeRunners, type RunnerName, runners, runSuite, shareSuite } from './run-suite.js'

const oneAfterTheOther: Record<RunnerName, string[]> = { vitest: ['--no-file-parallelism'], jest: ['-i'] }

/** All files in one worker. */
const inOneWorker: Record<RunnerName, string[]> = { vitest: ['--no-isolate', '--maxWorkers=1'], jest: ['-w', '1'] }

/** Jest 30 takes no number from the command line. */
const bails: Record<RunnerName, { argument: string; files: number }> = {
  vitest: { argument: '--bail=2', files: 2 },
  jest: { argument: '--bail', files: 1 },
}

describeRunners('tests that turn red at the end of their file', (runner) => {
  const leaking = (name: string) =>
    `test('leaks', () => { note('ran ${name}', true); spawn('sleep', ['300'], { stdio: 'ignore' }) })`
  const suite = shareSuite(runner, () => ({
    args: [...oneAfterTheOther[runner], bails[runner].argument],
    files: {
      a: `${leaking('a')}\ntest('is green', () => {})`,
      b: leaking('b'),
      c: leaking('c'),
      d: leaking('d'),
    },
  }))

  test('count for --bail', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode, output).toBe(1)
    expect(
      Object.keys(notes).filter((name) => name.startsWith('ran')),
      output,
    ).toHaveLength(bails[runner].files)
  })
})

describeRunners('a helper of a worker', (runner) => {
  const suite = shareSuite(runner, () => ({
    args: runner === 'jest' ? ['-w', '2'] : [],
    files: {
      helped: `
        let served
        test('starts one that stays', () => {
          const helper = spawn('sleep', ['300'], { stdio: 'ignore' })
          helper.unref()
          note('staying', helper.pid)
        })
        test('starts one that leaves with it', () => {
          const helper = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
          helper.unref()
          helper.stdin.unref?.()
          note('leaving', helper.pid)
        })`,
      other: `test('is green', () => {})`,
    },
  }))

  test('is judged when its worker has ended: the run is red for one that stays, and its tests are green', () => {
    const { exitCode, notes, output, summary } = suite()
    expect(suite().test('starts one that stays').status, output).toBe('passed')
    expect(exitCode, output).toBe(1)
    expect(output).toContain('A process that this run started is still alive.')
    expect(output).toContain(`pid ${notes['staying']}  sleep 300`)
    expect(output).toMatch(/started by helped\.check\.\w+ . starts one that stays/)
    expect(output).toContain(suite().placeOf("spawn('sleep', ['300']"))
    expect(output).not.toContain(`pid ${notes['leaving']} `)
    expect(summary.leaked).toBe(1)
    expect([notes['staying'], notes['leaving']].filter(hasProgram)).toEqual([])
  })
})

describe.each(runners)('a helper that several files use in one worker of %s', (runner) => {
  const use = (name: string) => `
    ${noteProcess}
    const key = Symbol.for('helper')
    const helper = (process[key] ??= (() => {
      const child = spawn('sleep', ['300'], { stdio: 'ignore' })
      child.unref()
      noteProcess(child.pid)
      return child
    })())
    test('${name} uses it', async () => {
      await custody.start({ name: 'api', command: ['node', '-e', 'setInterval(() => {}, 1e3)'] })
      expect(isAlive(helper.pid)).toBe(true)
    })`

  test('lives until the last of them has ended, and not longer than the run', async () => {
    const { directory, exitCode, output } = await runSuite(runner, {
      // In this process of Jest the worker is the runner itself.
      args: runner === 'jest' ? ['-i'] : inOneWorker.vitest,
      files: { a: use('a'), b: use('b') },
    })
    expect(output).toMatch(/2 passed/)
    const helpers = readNoted(directory)
    // A file of Jest has a `process` of its own.
    expect(helpers).toHaveLength(runner === 'jest' ? 2 : 1)
    if (runner === 'jest') expect(exitCode, output).toBe(0)
    await Promise.all(helpers.map(gone))
  })
})

describeRunners('what code of a test starts when its file has ended', (runner) => {
  const files = {
    first: `
      spawnSync('true')
      test('leaves code behind', () => {
        const timer = setInterval(() => {
          if (!fs.existsSync('second-runs')) return
          clearInterval(timer)
          note('stray', spawn('sleep', ['30'], { stdio: 'ignore', detached: true }).pid)
        }, 10)
      })`,
    second: `
      test('runs after it', async () => {
        fs.writeFileSync('second-runs', '')
        while (!fs.existsSync('notes.jsonl')) await new Promise((resolve) => setTimeout(resolve, 10))
      })`,
  }
  const args = runner === 'jest' ? ['-i'] : inOneWorker.vitest
  const suite = shareSuite(runner, () => ({ args, files }))
  const unlooked = shareSuite(runner, () => ({ args, files, env: { CUSTODY_LEAKS: 'off' } }))

  test('is the run’s, and no other test’s', () => {
    const { exitCode, notes, output } = suite()
    expect(suite().test('runs after it').status, output).toBe('passed')
    expect(exitCode, output).toBe(1)
    expect(output).toContain(`pid ${notes['stray']}  sleep 30`)
    expect(output).toMatch(/started by first\.check\.\w+ . leaves code behind/)
    expect(hasProgram(notes['stray'])).toBe(false)
  })

  test('is not looked for where nothing is', () => {
    expect(unlooked().exitCode, unlooked().output).toBe(0)
    expect(unlooked().output).not.toContain('sleep 30')
  })
})

describeRunners('with explain, the message of a leak', (runner) => {
  const server = `
    import { createServer } from 'node:http'
    import { openSync } from 'node:fs'
    openSync('data', 'a')
    console.log('first line')
    createServer().listen(0, '127.0.0.1', () => console.log('is up'))`
  const suite = shareSuite(runner, () => ({
    options: { explain: true },
    extras: { 'server.mjs': server },
    files: {
      explained: `
        test('leaves a server', async () => {
          const log = fs.openSync('server.log', 'a')
          const child = spawn('node', ['server.mjs'], { stdio: ['ignore', log, log] })
          while (!fs.readFileSync('server.log', 'utf8').includes('is up')) await new Promise((resolve) => setTimeout(resolve, 10))
        })`,
    },
  }))

  test('has its last lines, its open files and its sockets', () => {
    const { messages } = suite().test('leaves a server')
    expect(messages).toMatch(/listens on 127\.0\.0\.1:\d+/)
    expect(messages).toMatch(/last lines of \S+server\.log:\n {4}first line\n {4}is up/)
    expect(messages).toMatch(/open files:\n(?: {4}.*\n)* {4}\S+\/data\n/)
    expect(messages).toMatch(/sockets:\n(?: {4}.*\n)* {4}listens on 127\.0\.0\.1:\d+\n/)
    expect(messages).toContain("ready: { port: 'http' }")
  })
})

describeRunners('a file of which no test is to run', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      skipped: `
        note('skipped', spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).pid)
        test.skip('is skipped', () => {})`,
    },
  }))

  test('is red for what its top level has left', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode, output).toBe(1)
    expect(output).toContain('A process that this file started is still alive.')
    expect(hasProgram(notes['skipped'])).toBe(false)
  })
})

test.runIf(runners.includes('jest'))('what a reporter of Jest starts in the process of the tests is no test’s', async () => {
  const { exitCode, notes, output } = await runSuite('jest', {
    args: ['-i'],
    config: `
      import { withCustody } from '@custody/jest/config'
      export default withCustody({ testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: import.meta.dirname, reporters: ['default', './reporter.cjs'] })`,
    extras: {
      'reporter.cjs': `
        const { spawn } = require('node:child_process')
        module.exports = class {
          onRunComplete() {
            // It ends when the directory of the run is removed.
            const child = spawn('sh', ['-c', 'while [ -d "$TMPDIR" ]; do sleep 0.2; done'], { detached: true, stdio: 'ignore' })
            child.unref()
            require('node:fs').appendFileSync('notes.jsonl', JSON.stringify(['reporter', child.pid]) + '\\n')
          }
        }`,
    },
    files: { green: `test('starts one', () => { spawnSync('true') })` },
  })
  expect(exitCode, output).toBe(0)
  expect(output).not.toContain('ended with the run')
  expect(hasProgram(notes['reporter'])).toBe(true)
})
