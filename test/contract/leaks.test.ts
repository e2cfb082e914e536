import { readdirSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { describeRunners, shareSuite } from './run-suite.js'

/** For the inside of a test file: processes that stay, and how they are started. */
const starts = `
  const stay = ['-e', 'setInterval(() => {}, 1e3)']
  const told = (name, pid) => note(name, pid)`

describeRunners('a process that a test leaves', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      leaks: `
        ${starts}
        test('is clean', () => {})
        test('leaves a child', () => { told('child', spawn('node', stay, { stdio: 'ignore' }).pid) })
        test('leaves a detached one', () => {
          const child = spawn('node', stay, { detached: true, stdio: 'ignore' })
          child.unref()
          told('detached', child.pid)
        })
        test('does not wait for one that takes its time to leave', () => new Promise((resolve) => {
          const slow = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e3); console.log("up")'
          const child = spawn('node', ['-e', slow], { stdio: ['ignore', 'pipe', 'ignore'] })
          told('slow', child.pid)
          child.stdout.once('data', () => { child.kill(); resolve() })
        }))
        test('leaves a shell', () => { told('shell', spawn('sleep 300 & wait', { shell: true, stdio: 'ignore' }).pid) })
        test('leaves a daemon of a command', () => {
          told('daemon', Number(execFileSync('sh', ['-c', 'setsid sleep 300 > /dev/null 2>&1 & echo $!'], { encoding: 'utf8' })))
        })
        test('fails by itself', () => { spawn('node', stay, { stdio: 'ignore' }); throw new Error('on purpose') })
        test('waits for its child', async () => {
          const child = spawn('node', ['-e', ''], { stdio: 'ignore' })
          await new Promise((resolve) => child.once('exit', resolve))
        })
        test('has a child that is just exiting', () => { spawn('sleep', ['0.3'], { stdio: 'ignore' }) })
        test('has a helper that ends with its worker', () => {
          // cat ends when nobody can write to it any more.
          const helper = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
          helper.unref()
          // Bun's has none.
          helper.stdin.unref?.()
        })
        test('starts a runtime', () => custody.start({ name: 'api', command: ['node', ...stay] }))
        describe('inside', () => {
          test('leaves a child too', async () => {
            await Promise.resolve()
            told('inside', spawn('node', stay, { stdio: 'ignore' }).pid)
          })
        })`,
      hooks: `
        ${starts}
        beforeAll(() => { told('beforeAll', spawn('node', stay, { stdio: 'ignore' }).pid) })
        test('is green', () => {})
        test('is red by itself, which is no reason for the file', () => { throw new Error('on purpose') })`,
      lazy: `
        ${starts}
        let server
        const lazily = () => (server ??= spawn('node', stay, { stdio: 'ignore' }))
        test('starts it', () => { lazily() })
        test('uses it', () => { expect(lazily().exitCode).toBe(null) })
        afterAll(async () => {
          const exited = new Promise((resolve) => server.once('exit', resolve))
          server.kill()
          await exited
        })`,
      clean: `test('starts nothing', () => {})`,
    },
  }))

  test.each([
    ['leaves a child', "told('child'"],
    ['leaves a detached one', 'detached: true'],
    ['leaves a shell', "told('shell'"],
    ['leaves a child too', "told('inside'"],
  ])('makes the test red that has started it, at the line: %s', (title, line) => {
    const { messages, status } = suite().test(title)
    expect(status, suite().output).toBe('failed')
    expect(messages).toContain('A process that this test started is still alive.')
    expect(suite().output).toContain(suite().placeOf(line))
  })

  test('makes the test red whose command has left it', () => {
    const { messages, status } = suite().test('leaves a daemon of a command')
    expect(status, suite().output).toBe('failed')
    expect(messages).toMatch(/pid \d+ {2}sleep 300/)
  })

  test('says which process it is, and what to do', () => {
    const { messages } = suite().test('leaves a child')
    expect(messages).toContain(`pid ${suite().notes['child']}  node -e`)
    expect(messages).toContain('await custody.start({')
    expect(messages).toContain("allow: [{ argv: ['node', '-e', 'setInterval(() => {}, 1e3)']")
  })

  test('says of one that was sent a signal that its exit was waited for', () => {
    const { messages, status } = suite().test('does not wait for one that takes its time to leave')
    expect(status, suite().output).toBe('failed')
    expect(messages).toContain('its test has sent it a signal, and Custody has waited 2 000 ms for its exit')
    expect(messages).toContain('await its exit where it is sent the signal, raise timeouts.exitMs, or')
    expect(messages).not.toContain('stop it')
    expect(suite().test('leaves a child').messages).toContain('stop it in the test')
    expect(suite().test('leaves a child').messages).not.toContain('a signal')
  })

  test('makes the file red that has started it outside of its tests', () => {
    expect(suite().test('is green').status).toBe('passed')
    expect(suite().output).toContain(suite().placeOf("told('beforeAll'"))
  })

  test('adds nothing to a test that has failed by itself', () => {
    const { messages, status } = suite().test('fails by itself')
    expect(status).toBe('failed')
    expect(messages).not.toContain('still alive')
  })

  test.each([
    'is clean',
    'waits for its child',
    'has a child that is just exiting',
    'has a helper that ends with its worker',
    'starts a runtime',
    'starts it',
    'uses it',
    'starts nothing',
  ])('leaves other tests green: %s', (title) => expect(suite().test(title).status, suite().output).toBe('passed'))

  test('makes the run red, is counted, and is gone after it', () => {
    const { exitCode, notes, summary } = suite()
    expect(exitCode).toBe(1)
    expect(summary.leaked).toBe(8)
    const alive = ['child', 'detached', 'slow', 'shell', 'daemon', 'inside', 'beforeAll'].filter((name) =>
      hasProgram(notes[name]),
    )
    expect(alive).toEqual([])
  })
})

/** They end when the suite's directory is removed: some are left alone on purpose. */
const left = `
  const script = 'while [ -d "$TMPDIR" ]; do sleep 0.2; done'
  // Nobody waits for them: Jest does not leave as long as it has a child that it waits for.
  const abandon = (name, program) => {
    const child = spawn(program, ['-c', script], { detached: true, stdio: 'ignore' })
    child.unref()
    told(name, child.pid)
  }
  test('leaves one', () => abandon('one', 'sh'))
  test('leaves another', () => abandon('other', 'dash'))`

describeRunners("with leaks: 'warn', a process that a test leaves", (runner) => {
  // Runners begin with the longest file.
  const exiting = `
    // ${'-'.repeat(4_000)}
    test('has one that is just exiting', () => {
      note('exiting', spawn('sh', ['-c', 'exec sleep 0.4'], { stdio: 'ignore' }).pid)
    })`
  const waiting = `
    test('ends when that has exited', async () => {
      const pid = () => /"exiting",(\\d+)/.exec(fs.existsSync('notes.jsonl') ? fs.readFileSync('notes.jsonl', 'utf8') : '')?.[1]
      while (pid() === undefined || isAlive(pid())) await new Promise((resolve) => setTimeout(resolve, 20))
    })`
  const suite = shareSuite(runner, () => ({
    options: { leaks: 'warn' },
    files: { leaks: `${starts}${left}`, exiting, waiting },
  }))

  test('is not meant when it is just exiting', () => {
    expect(suite().output).not.toContain('has one that is just exiting left')
    expect(suite().summary.leaked).toBe(2)
  })

  test('keeps its test green, is reported, and ends with the run', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode, output).toBe(0)
    expect(output).toMatch(new RegExp(`warning: leaks\\.check\\S+ . leaves one left pid ${notes['one']}: sh -c while`))
    expect([hasProgram(notes['one']), hasProgram(notes['other'])]).toEqual([false, false])
  })
})

describeRunners("with leaks: 'off', a process that a test leaves", (runner) => {
  const suite = shareSuite(runner, () => ({ env: { CUSTODY_LEAKS: 'off' }, files: { leaks: `${starts}${left}` } }))

  test('is neither looked for nor ended', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode, output).toBe(0)
    expect(output).not.toContain(String(notes['one']))
    expect([hasProgram(notes['one']), hasProgram(notes['other'])]).toEqual([true, true])
  })
})

describeRunners('a process that may be left', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: {
      allow: [
        { argv: ['sh', '-c', '**'], reason: 'it ends by itself', until: 'forever' },
        { argv: ['dash', '-c', 'while*'], reason: 'for the run', until: 'run' },
      ],
    },
    files: {
      leaks: `${starts}${left}\ntest('leaves a third', () => { told('third', spawn('sleep', ['21'], { stdio: 'ignore' }).pid) })`,
    },
  }))

  test('keeps its test green and is listed, and no other does', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode).toBe(1)
    expect(['leaves one', 'leaves another', 'leaves a third'].map((title) => suite().test(title).status)).toEqual([
      'passed',
      'passed',
      'failed',
    ])
    expect(output).toContain(`custody  allowed: pid ${notes['one']}  sh -c while`)
  })

  test('ends with the run, or is left alone, as is said', () => {
    const { notes } = suite()
    expect([hasProgram(notes['one']), hasProgram(notes['other']), hasProgram(notes['third'])]).toEqual([true, false, false])
  })
})

describeRunners("with leakScope: 'test', a process that a test leaves", (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { leakScope: 'test' },
    files: {
      leaks: `
        ${starts}
        let pid
        test('leaves one', () => { pid = spawn('sleep', ['20'], { stdio: 'ignore' }).pid })
        test('does not find it any more', () => expect(isAlive(pid)).toBe(false))`,
    },
  }))

  test('makes it red at once, and is gone before the next', () => {
    expect(suite().test('leaves one').status).toBe('failed')
    expect(suite().test('leaves one').messages).toContain('still alive')
    expect(suite().test('does not find it any more').status, suite().output).toBe('passed')
  })
})

// G06
describeRunners('an attempt that fails and leaves a process', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      retried: `
        ${starts}
        let attempts = 0
        retried('passes at last', () => {
          if (attempts++ > 0) return
          told('first', spawn('sleep', ['300'], { stdio: 'ignore' }).pid)
          throw new Error('on purpose')
        })`,
    },
  }))

  test('has it told and ended, and the passing retry stays green', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode, output).toBe(0)
    expect(output).toContain(`left pid ${notes['first']}: sleep 300`)
    expect(hasProgram(notes['first'])).toBe(false)
  })
})

describeRunners('tests that run at once', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      concurrent: `
        ${starts}
        const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
        test.concurrent('leaves none', async () => { await pause(); await pause() })
        test.concurrent('leaves one', async () => { await pause(); spawn('sleep', ['300'], { stdio: 'ignore' }); await pause() })
        test.concurrent('leaves none either', async () => { await pause(); await pause() })`,
    },
  }))

  test('are red for their own processes alone', () => {
    const statuses = ['leaves none', 'leaves one', 'leaves none either'].map((title) => suite().test(title).status)
    expect(statuses, suite().output).toEqual(['passed', 'failed', 'passed'])
  })
})

// G01
describeRunners('tests that commit with git', (runner) => {
  const suite = shareSuite(
    runner,
    () => ({
      files: {
        git: `
        const git = (directory, ...args) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'gc.auto=1', ...args], { cwd: directory, stdio: 'ignore' })
        for (let at = 0; at < 200; at++)
          test('commits ' + at, () => {
            const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'git-'))
            git(directory, 'init')
            for (let file = 0; file < 3; file++) fs.writeFileSync(path.join(directory, 'f' + file), 'x'.repeat(at))
            git(directory, 'add', '.')
            git(directory, 'commit', '-m', 'x')
          })`,
      },
    }),
    240_000,
  )

  test('are green, and its maintenance ends by itself', async () => {
    expect(suite().exitCode, suite().output).toBe(0)
    expect(suite().output).not.toContain('ended with the run')
    // One that was ended in its work would leave its locks for ever.
    const locks = () =>
      readdirSync(suite().base, { recursive: true, encoding: 'utf8' }).filter((path) => /\.lock$|gc\.pid$/.test(path))
    while (locks().length > 0) await setTimeout(50)
  })
})
