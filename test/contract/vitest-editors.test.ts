import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allGone, leaksAndStarts, ONE_RED } from './leaks-and-starts.js'
import { noteProcess, until } from './noted.js'
import { runners, shareSuite } from './run-suite.js'

/** For the inside of a test: says that it has come so far, and waits for ever. */
const hangs = `fs.writeFileSync('up', ''); await new Promise(() => {})`

/** Has a program of the project stand in the place of the runner, as the process is that an editor runs Vitest in. */
const hostedBy = (program: string) => ({
  wrapper: ['sh', '-c', 'exec "$1" host.mjs', 'sh'] as const,
  extras: {
    'host.mjs': `
      import fs from 'node:fs'
      import { createVitest, startVitest } from 'vitest/node'
      const options = { watch: true, reporters: ['default', 'json'], outputFile: { json: 'results.json' } }
      const note = (name, value) => fs.appendFileSync('notes.jsonl', JSON.stringify([name, value]) + '\\n')
      const appears = async (file) => { while (!fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20)) }
      // Vitest has those of earlier runs in it as well.
      const outcomeOf = ({ testModules, unhandledErrors }, name) => {
        const tests = testModules.filter(({ moduleId }) => moduleId.includes(name)).flatMap(({ children }) => [...children.allTests()])
        return [Object.fromEntries(tests.map((test) => [test.name, test.result().state])), unhandledErrors.length]
      }
      // A zombie has no command.
      const isAlive = (pid) => fs.existsSync('/proc/' + pid + '/exe')
      const alive = () => fs.readFileSync('noted', 'utf8').split('\\n').filter((line) => isAlive(line.split(' ')[0])).length
      ${program}`,
  },
})

describe.runIf(runners.includes('vitest')).concurrent('an editor that runs Vitest', () => {
  describe.concurrent('in a process that lasts', () => {
    const suite = shareSuite('vitest', () => ({
      options: { timeouts: { exitMs: 100 } },
      ...hostedBy(`
        const vitest = await createVitest('test', options)
        note('all', [...outcomeOf(await vitest.start(['first']), 'first'), alive()])
        const specifications = await vitest.globTestSpecifications()
        const of = (name) => specifications.filter(({ moduleId }) => moduleId.endsWith(name + '.check.mjs'))
        note('some', [...outcomeOf(await vitest.runTestSpecifications(of('first')), 'first'), alive()])
        const running = vitest.runTestSpecifications(of('hanging'))
        await appears('up')
        await vitest.cancelCurrentRun('keyboard-input')
        note('cancelled', [...outcomeOf(await running, 'hanging'), alive()])
        note('after', [...outcomeOf(await vitest.runTestSpecifications(of('first')), 'first'), alive()])
        await vitest.close()`),
      files: { first: leaksAndStarts(), hanging: leaksAndStarts(hangs) },
    }))

    test.each(['all', 'some', 'after'])('has each of its runs judged, and nothing left by it: %s', (name) => {
      expect(suite().notes[name], suite().output).toEqual([ONE_RED, 0, 0])
    })

    test('has nothing left of a run that it has cancelled', () => {
      expect(suite().notes['cancelled'], suite().output).toMatchObject([{ leaks: 'failed' }, 0, 0])
    })

    test('leaves nothing when it is closed', () => allGone(suite(), 8))
  })

  // What the button that stops does.
  describe.concurrent.each(['SIGTERM', 'SIGKILL'] as const)('and is stopped by %s in the middle of a test', (signal) => {
    const suite = shareSuite('vitest', () => ({
      ...hostedBy(`await (await createVitest('test', options)).start()`),
      files: { hanging: leaksAndStarts(hangs) },
      during: async (running) => {
        await until(running, () => existsSync(join(running.directory, 'up')))
        running.runner.kill(signal)
      },
    }))

    test('leaves nothing', async () => {
      expect(suite().signal ?? suite().exitCode, suite().output).toBeOneOf([signal, 143])
      await allGone(suite(), 2)
    })
  })

  describe.concurrent('with two instances at once in one process', () => {
    const config = `
      import { custodyPlugin } from '@custody/vitest/plugin'
      export default {
        plugins: [custodyPlugin({ report: { json: 'custody.json' }, timeouts: { exitMs: 100 } })],
        test: { include: ['*.check.mjs'], testTimeout: 30_000, globalSetup: ['./setup.mjs'] },
      }`
    // Each waits for the other, so that both runs are open when they start something.
    const setup = (own: string, other: string) => `
      import { execFileSync, spawn } from 'node:child_process'
      import { once } from 'node:events'
      import fs from 'node:fs'
      ${noteProcess}
      export default async () => {
        fs.writeFileSync('${own}/in-setup', '')
        while (!fs.existsSync('${other}/in-setup')) await new Promise((resolve) => setTimeout(resolve, 20))
        // Nothing but its mark says whose it is.
        noteProcess(Number(execFileSync('sh', ['-c', 'sleep 303 >/dev/null 2>&1 & echo $!'])))
        const server = spawn('sleep', ['302'], { stdio: 'ignore' })
        return () => Promise.all([once(server, 'exit'), server.kill()])
      }`
    const suite = shareSuite('vitest', () => {
      const host = hostedBy(`
        const start = (root) => startVitest('test', [], { ...options, root, watch: false, outputFile: { json: root + '/results.json' } })
        const summaryOf = (root) => JSON.parse(fs.readFileSync(root + '/custody.json', 'utf8')).summary
        const outcomes = (vitest) => outcomeOf({ testModules: vitest.state.getTestModules(), unhandledErrors: vitest.state.getUnhandledErrors() }, '')
        const [long, starting] = ['long', 'short'].map(start)
        const short = await starting
        await appears('long/up')
        await short.close()
        note('short', [...outcomes(short), summaryOf('short')])
        fs.writeFileSync('long/go', '')
        const ended = await long
        await ended.close()
        note('long', [...outcomes(ended), summaryOf('long')])`)
      const file = (body: string) => `
        import { spawn } from 'node:child_process'
        import fs from 'node:fs'
        import { expect, test } from 'vitest'
        import { custody } from '@custody/vitest'
        ${body}`
      const waits = `
        fs.writeFileSync('long/up', '')
        while (!fs.existsSync('long/go')) await new Promise((resolve) => setTimeout(resolve, 20))
        expect(fs.existsSync('/proc/' + pid + '/exe')).toBe(true)`
      return {
        ...host,
        extras: {
          ...host.extras,
          'long/vitest.config.mjs': config,
          'long/setup.mjs': setup('long', 'short'),
          'long/a.check.mjs': file(leaksAndStarts(waits)),
          'short/vitest.config.mjs': config,
          'short/setup.mjs': setup('short', 'long'),
          'short/b.check.mjs': file(leaksAndStarts()),
        },
        files: {},
      }
    })

    test.each(['short', 'long'])('has each keep what is its own: the %s one', (name) => {
      expect(suite().notes[name], suite().output).toMatchObject([ONE_RED, 0, { started: 1, exitsObserved: 1, leaked: 2 }])
    })

    test('leaves nothing', () => allGone(suite(), 6))
  })
})
