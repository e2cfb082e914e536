import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { describeRunners, type RunnerName, shareSuite } from './run-suite.js'

/** For the inside of a test file: a program that stays, and how its processes are told. */
const starts = `
  const stay = ['-e', 'setInterval(() => {}, 1e3)']
  const pidFile = (name) => path.join(process.cwd(), name + '.pid')
  const told = async (name) => {
    for (;;) {
      const text = fs.existsSync(pidFile(name)) ? fs.readFileSync(pidFile(name), 'utf8') : ''
      if (text.endsWith('\\n')) return note(name, Number(text))
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }`

const execa = fileURLToPath(import.meta.resolve('execa'))

const library: Record<RunnerName, { name: string; load: string; text: string }> = {
  vitest: {
    name: 'lib.mjs',
    load: `const { startServer } = await import('./lib.mjs')`,
    text: `import { spawn } from 'node:child_process'
export const startServer = () => spawn('sleep', ['303'], { stdio: 'ignore' })`,
  },
  jest: {
    name: 'lib.cjs',
    load: `const { startServer } = require('./lib.cjs')`,
    text: `const { spawn } = require('node:child_process')
exports.startServer = () => spawn('sleep', ['303'], { stdio: 'ignore' })`,
  },
}

describeRunners('what a test leaves', (runner) => {
  const suite = shareSuite(runner, () => ({
    // For the import of a module in Jest.
    env: { NODE_OPTIONS: '--experimental-vm-modules' },
    extras: {
      'package.json': JSON.stringify({ scripts: { serve: 'echo $$ > shim.pid; exec sleep 301' } }),
      [library[runner].name]: library[runner].text,
    },
    files: {
      kinds: `
        ${starts}
        test('leaves what npm has started', async () => {
          spawn('npm', ['run', '--silent', 'serve'], { stdio: 'ignore' })
          await told('shim')
        })
        test('leaves one that has forked twice', async () => {
          execFileSync('sh', ['-c', '(setsid sh -c "echo \\\\$\\\\$ > twice.pid; exec sleep 302" > /dev/null 2>&1 &) &'], { stdio: 'ignore' })
          await told('twice')
        })
        test('leaves what execa has started', async () => {
          const { execa } = await import(${JSON.stringify(execa)})
          const child = execa('node', stay, { stdio: 'ignore', reject: false })
          note('execa', child.pid)
        })
        test('leaves what a library has started', async () => {
          ${library[runner].load}
          const child = startServer()
          note('library', child.pid)
        })
        test('leaves none', () => {})`,
      top: `
        ${starts}
        note('top', spawn('node', stay, { stdio: 'ignore' }).pid)
        test('is green below what the top level leaves', () => {})`,
      begun: `
        ${starts}
        let goOn
        test('leaves code behind before it starts a process', () => {
          goOn = new Promise((resolve) => {
            const timer = setInterval(() => {
              if (!fs.existsSync('go-on')) return
              clearInterval(timer)
              note('begun', spawn('sleep', ['309'], { stdio: 'ignore' }).pid)
              resolve()
            }, 10)
          })
          spawnSync('true')
        })
        test('runs while that goes on', async () => {
          fs.writeFileSync('go-on', '')
          await goOn
        })`,
      late: `
        ${starts}
        let body, goOn
        const released = new Promise((resolve) => { goOn = resolve })
        limited('goes on after its time', async () => {
          body = released.then(() => {
            const child = spawn('sleep', ['304'], { stdio: 'ignore' })
            note('late', child.pid)
          })
          await body
        })
        test('runs beside it', async () => {
          goOn()
          await body
        })`,
    },
  }))

  test.each([
    ['leaves what npm has started', /pid \d+ {2}npm run serve/],
    ['leaves one that has forked twice', /pid \d+ {2}sleep 302/],
    ['leaves what execa has started', /pid \d+ {2}node -e/],
    ['leaves what a library has started', /pid \d+ {2}sleep 303/],
  ])('makes the test red, and no other: %s', (title, message) => {
    expect(suite().test(title).status, suite().output).toBe('failed')
    expect(suite().test(title).messages).toMatch(message)
  })

  test.each([["spawn('npm'"], ["execFileSync('sh'"], ["const child = execa('node'"], ['const child = startServer()']])(
    'leads to the line of the test: %s',
    (line) => expect(suite().output).toContain(suite().placeOf(line)),
  )

  test('says what became of the parent of one that has none any more', () => {
    expect(suite().test('leaves one that has forked twice').messages).toMatch(
      /its parent has exited: it is a child of pid 1 |it is a child of pid \d+/,
    )
  })

  test('makes the file red for what its top level leaves', () => {
    expect(suite().test('is green below what the top level leaves').status).toBe('passed')
    expect(suite().output).toContain('A process that this file started is still alive.')
    expect(suite().output).toContain(suite().placeOf("note('top'"))
  })

  test('makes the file red for what a test starts after its end, and names that test', () => {
    expect(suite().test('runs beside it').status, suite().output).toBe('passed')
    expect(suite().output).toContain('A process that code of a test started after its end is still alive.')
    expect(suite().output).toMatch(/started by late\.check\.\w+ . goes on after its time/)
    expect(suite().output).toContain(suite().placeOf("spawn('sleep', ['304']"))
  })

  test('is not the test’s that runs meanwhile, whose code has begun before', () => {
    expect(suite().test('runs while that goes on').status, suite().output).toBe('passed')
    expect(suite().output).toMatch(/pid \d+ {2}sleep 309/)
  })

  test('leaves the other tests green, makes the run red, and is gone after it', () => {
    const { exitCode, notes } = suite()
    expect(suite().test('leaves none').status).toBe('passed')
    expect(exitCode).toBe(1)
    const names = ['shim', 'twice', 'execa', 'library', 'top', 'late', 'begun']
    expect(names.filter((name) => notes[name] === undefined || hasProgram(notes[name]))).toEqual([])
  })
})

describeRunners('what a file leaves that has failed by itself', (runner) => {
  const leaving = (name: string) => `const leaving = () => note('${name}', spawn('sleep', ['311'], { stdio: 'ignore' }).pid)`
  const throwing = `() => { leaving(); throw new Error('its own') }`
  const suite = shareSuite(runner, () => ({
    options: { timeouts: { exitMs: 100 } },
    files: {
      before: `${leaving('before')}\nbeforeAll(${throwing})\ntest('has no server', () => {})`,
      after: `${leaving('after')}\nafterAll(${throwing})\ntest('is followed by a failure', () => {})`,
      nested: `${leaving('nested')}\ndescribe('a block', () => { beforeAll(${throwing}); test('has none either', () => {}) })`,
      top: `${leaving('top')}\nleaving()\nthrow new Error('its own')`,
    },
  }))

  test.each(['before', 'after', 'nested', 'top'])('is told in one line, adds no error, and is gone after it: %s', (name) => {
    const { exitCode, notes, output } = suite()
    expect(exitCode).toBe(1)
    expect(output).toMatch(new RegExp(`${name}\\.check\\.\\w+ left pid ${notes[name]}: sleep 311`))
    expect(output).not.toContain('still alive')
    expect(hasProgram(notes[name])).toBe(false)
  })
})

describeRunners('what the hooks of a file leave in which a test has failed', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { timeouts: { exitMs: 100 } },
    files: {
      any: `
        beforeAll(() => { spawn('sleep', ['312'], { stdio: 'ignore' }) })
        test('fails', () => { throw new Error('its own') })`,
    },
  }))

  test('makes the file red', () => {
    expect(suite().output).toContain('A process that this file started is still alive.')
    expect(suite().output).toMatch(/pid \d+ {2}sleep 312/)
  })
})

const helper = `
exports.startLater = (start) => new Promise((resolve) => setTimeout(() => { start(); resolve() }, 20))`

/** A configuration with a global setup of the user's own. */
function withGlobalSetup(runner: RunnerName, options: object): { config: string; extras: Record<string, string> } {
  const text = `
const { spawn } = require('node:child_process')
const { appendFileSync, existsSync } = require('node:fs')
const children = []
const start = (name, seconds) => {
  const child = spawn('sleep', [seconds], { stdio: 'ignore' })
  appendFileSync('notes.jsonl', JSON.stringify([name, child.pid]) + '\\n')
  return child
}
exports.setup = async () => {
  start('left by the setup', '305')
  // No frame of this file is in the stack of what a helper starts later.
  await require('./helper.cjs').startLater(() => start('left by a helper', '308'))
  children.push(start('ended by the teardown', '306'))
  const helper = start('a helper of the main process', '310')
  helper.unref()
  process.on('exit', () => appendFileSync('notes.jsonl', JSON.stringify(['alive at the end', existsSync('/proc/' + helper.pid + '/exe')]) + '\\n'))
}
exports.teardown = () => new Promise((resolve) => {
  children[0].once('exit', resolve)
  children[0].kill()
})`
  if (runner === 'vitest') {
    const config = `
import { custodyPlugin } from '@custody/vitest/plugin'
export default { plugins: [custodyPlugin(${JSON.stringify(options)})], test: { include: ['*.check.mjs'], testTimeout: 30_000, globalSetup: ['./setup.mjs'] } }`
    const setup = text
      .replaceAll(/const (\{[^}]+\}) = require\(('[^']+')\)/g, 'import $1 from $2')
      .replaceAll(/exports\.(\w+) =/g, 'export const $1 =')
      .replace(`require('./helper.cjs')`, `(await import('./helper.cjs')).default`)
    return { config, extras: { 'setup.mjs': setup, 'helper.cjs': helper } }
  }
  const config = `
import { withCustody } from '@custody/jest/config'
export default withCustody({ testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: import.meta.dirname,
  globalSetup: '<rootDir>/setup.cjs', globalTeardown: '<rootDir>/teardown.cjs' }, ${JSON.stringify(options)})`
  const shared = `globalThis[Symbol.for('setup')] ??= {}`
  return {
    config,
    extras: {
      'setup.cjs': `${text}\n;(${shared}).teardown = exports.teardown\nmodule.exports = exports.setup`,
      'helper.cjs': helper,
      'teardown.cjs': `module.exports = () => (${shared}).teardown()`,
    },
  }
}

describeRunners('what a global setup leaves', (runner) => {
  const suite = shareSuite(runner, () => ({
    ...withGlobalSetup(runner, { report: { json: 'custody.json' } }),
    files: { green: `test('is green', () => {})` },
  }))

  test('makes the run red when its teardown has run, and is gone after it', () => {
    const { exitCode, notes, output, summary } = suite()
    expect(suite().test('is green').status, output).toBe('passed')
    expect(exitCode, output).toBe(1)
    expect(output).toContain('A process that this global setup started is still alive.')
    expect(output).toContain(`pid ${notes['left by the setup']}  sleep 305`)
    expect(output).not.toContain('sleep 306')
    expect(output).toMatch(/setup\.(mjs|cjs):\d+/)
    expect(output).toContain(`pid ${notes['left by a helper']}  sleep 308`)
    expect(summary.leaked).toBe(2)
    expect([notes['left by the setup'], notes['left by a helper']].filter(hasProgram)).toEqual([])
  })

  test('is told and ended apart from helpers that leave with the main process', async () => {
    const { notes, output } = suite()
    expect(notes['alive at the end'], output).toBe(true)
    expect(output).not.toContain('sleep 310')
    while (hasProgram(notes['a helper of the main process'])) await setTimeout(20)
  })
})

describeRunners('a finalizer that cannot remove a directory', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      removing: `
        ${starts}
        let directory
        const writing = () => {
          directory = fs.mkdtempSync(path.join(os.tmpdir(), 'written-'))
          // Nothing is removed while there is something in it: as if somebody wrote there between two looks.
          fs.mkdirSync(path.join(directory, 'full'))
          spawn('sleep', ['307'], { cwd: directory, stdio: 'ignore' })
        }
        const remove = () => { fs.rmdirSync(directory) }
        describe('after each', () => {
          afterEach(remove)
          test('leaves one that works there', writing)
        })`,
    },
  }))

  test('is told who is there, beside its own error', () => {
    const { messages } = suite().test('leaves one that works there')
    expect(messages).toContain('ENOTEMPTY')
    expect(messages).toContain('It is still in use by a process that was started here:')
    expect(messages).toMatch(
      /pid \d+ {2}sleep 307 {3}\(started by removing\.check\.\w+ . after each . leaves one that works there\)/,
    )
  })
})
