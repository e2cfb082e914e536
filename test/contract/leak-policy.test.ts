import { describe, expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { describeRunners, runners, runSuite, shareSuite } from './run-suite.js'

/** They end when the suite's directory is removed: some are left alone on purpose. */
const left = `
  const script = 'while [ -d "$TMPDIR" ]; do sleep 0.2; done'
  const abandon = (name, program = 'sh') => {
    const child = spawn(program, ['-c', script], { detached: true, stdio: 'ignore' })
    child.unref()
    note(name, child.pid)
    return child
  }`

describeRunners('files with a policy of their own', (runner) => {
  const leak = (name: string, first = '') => `${left}\n${first}\ntest('leaves ${name}', () => { abandon('${name}') })`
  const suite = shareSuite(runner, () => ({
    options: {
      overrides: [
        { files: ['**/warned*', 'off.check.*'], leaks: 'warn' },
        { files: 'off.*', leaks: 'off' },
      ],
    },
    files: {
      failing: leak('failing'),
      warned: leak('warned'),
      off: leak('off'),
      configured: leak('configured', `custody.configure({ leaks: 'warn' })`),
      'warned-but-strict': leak('strict', `beforeAll(() => custody.configure({ leaks: 'fail' }))`),
      wrong: `
        test('configures a test', () => custody.configure({ leaks: 'off' }))
        test('gives no policy', () => custody.configure({ leaks: 'on' }))`,
    },
  }))

  test.each([
    ['failing', 'failed'],
    ['warned', 'passed'],
    ['off', 'passed'],
    ['configured', 'passed'],
    ['strict', 'failed'],
  ])('are judged by the file itself, the last override that fits, or the options: %s', (name, status) => {
    expect(suite().test(`leaves ${name}`).status, suite().output).toBe(status)
  })

  test('have what they leave ended, but where nobody looks', () => {
    const { notes } = suite()
    const names = ['failing', 'warned', 'off', 'configured', 'strict']
    expect(names.filter((name) => hasProgram(notes[name]))).toEqual(['off'])
  })

  test('are told what is wrong', () => {
    expect(suite().test('configures a test').messages).toContain('only a whole file can be configured')
    expect(suite().test('gives no policy').messages).toContain('leaks is wrong: it is "on"')
  })
})

describeRunners('with CUSTODY_LEAKS, files', (runner) => {
  const suite = shareSuite(runner, () => ({
    env: { CUSTODY_LEAKS: 'warn' },
    options: { overrides: [{ files: '**', leaks: 'fail' }] },
    files: {
      overridden: `${left}\ntest('leaves one', () => { abandon('one') })`,
      configured: `${left}\ncustody.configure({ leaks: 'fail' })\ntest('leaves another', () => { abandon('another') })`,
    },
  }))

  test('are judged by it and not by overrides, but as they say themselves', () => {
    expect(suite().test('leaves one').status, suite().output).toBe('passed')
    expect(suite().test('leaves another').status, suite().output).toBe('failed')
  })
})

describeRunners('a process that its test declares', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      declared: `
        ${left}
        test('leaves one for ever', () => {
          custody.allow({ argv: ['sh', '-c', 'while*'], reason: 'a cache', until: 'forever' })
          abandon('for ever')
        })
        test('leaves one for the run', () => {
          custody.allow({ match: /^dash -c while/, reason: 'for all', until: 'run' })
          abandon('for the run', 'dash')
        })
        test('leaves one that matches for ever', () => {
          custody.allow({ match: (argv) => argv[0] === 'dash', reason: 'told by a function', until: 'forever' })
          abandon('matching', 'dash')
        })
        test('leaves one that ends soon', () => {
          custody.allow({ argv: ['sleep', '**'], reason: 'it ends by itself', until: 'scope' })
          spawn('sh', ['-c', 'exec sleep 1'], { detached: true, stdio: 'ignore' }).unref()
        })
        test('leaves the same undeclared', () => { abandon('undeclared') })
        test('declares nothing', () => custody.allow({ reason: 'none', until: 'run' }))
        test('declares a text', () => custody.allow('sleep'))
        test('says nothing of the end', () => custody.allow({ argv: ['sleep'], reason: 'none' }))`,
      failing: `
        test('declares by a function that fails', () => {
          custody.allow({ match: () => { throw new Error('boo') }, reason: 'none', until: 'forever' })
          note('failing', spawn('sleep', ['300'], { stdio: 'ignore' }).pid)
        })`,
      anything: `
        test('declares any command', () => {
          custody.allow({ argv: ['**'], reason: 'all', until: 'run' })
          note('anything', spawn('sleep', ['300'], { stdio: 'ignore' }).pid)
        })`,
      whole: `
        ${left}
        custody.allow({ argv: ['sh', '**'], reason: 'of the file', until: 'run' })
        test('leaves what its file has declared', () => { abandon('of the file') })`,
    },
  }))

  test.each([
    ['leaves one for ever', 'passed'],
    ['leaves one for the run', 'passed'],
    ['leaves one that matches for ever', 'passed'],
    ['leaves one that ends soon', 'passed'],
    ['leaves the same undeclared', 'failed'],
    ['leaves what its file has declared', 'passed'],
    ['declares by a function that fails', 'failed'],
    ['declares any command', 'passed'],
  ])('keeps that test green, and no other: %s', (title, status) => {
    expect(suite().test(title).status, suite().output).toBe(status)
  })

  test('ends with the run, or is left alone with what descends from it, as is said', () => {
    const { notes } = suite()
    const names = ['for ever', 'for the run', 'matching', 'undeclared', 'of the file']
    expect(names.filter((name) => hasProgram(notes[name]))).toEqual(['for ever', 'matching'])
  })

  test('is listed, but one that ends in time', () => {
    const { notes, output } = suite()
    expect(output).toContain(`allowed: pid ${notes['for ever']}  sh -c while`)
    expect(output).toContain('(told by a function)')
    expect(output).not.toContain('(it ends by itself)')
  })

  test('is judged as undeclared when its function fails, and the file says so', () => {
    expect(suite().test('declares by a function that fails').messages).toContain('still alive')
    expect(suite().output).toMatch(
      /Could not ask whether a process is declared in failing\.check\S+ . declares by a function that fails: match failed: boo\./,
    )
    expect(hasProgram(suite().notes['failing'])).toBe(false)
  })

  test('is refused when the declaration is wrong', () => {
    expect(suite().test('declares nothing').messages).toContain('there must be either argv or match')
    expect(suite().test('declares a text').messages).toContain('what it is given is wrong: it is "sleep".\nHint: give { argv: [')
    expect(suite().test('says nothing of the end').messages).toContain(
      'until is missing.\nHint: choose one of scope, run, forever.',
    )
  })
})

describeRunners('what a test starts for others', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      lazy: `
        let server
        const lazily = () => (server ??= custody.inScope('file', () => spawn('sleep', ['300'], { stdio: 'ignore' })))
        const answering = { name: 'api', command: ['node', path.join(programs, 'servers/answering-http.js')], ports: ['http'], ready: { http: '/' } }
        let api
        const apiOf = () => (api ??= custody.inScope('run', () => custody.start(answering)))
        test('starts it', async () => {
          note('server', lazily().pid)
          note('api', (await apiOf()).pid)
          note('worker', custody.inScope('worker', () => spawn('sleep', ['301'], { stdio: 'ignore' })).pid)
        })
        test('uses it', async () => {
          expect(isAlive(lazily().pid)).toBe(true)
          expect((await fetch((await apiOf()).url)).status).toBe(200)
        })
        test('gives back what the function gives, and throws what it throws', async () => {
          expect(custody.inScope('file', () => 4)).toBe(4)
          await expect(custody.inScope('run', () => Promise.resolve(5))).resolves.toBe(5)
          const error = Object.assign(new Error('own'), { code: 'ENOENT' })
          expect(() => custody.inScope('file', () => { throw error })).toThrow(error)
        })
        test('has no such scope', () => custody.inScope('galaxy', () => {}))`,
    },
  }))

  test('is the file’s, which is red for it, and the tests are green', () => {
    expect(suite().test('starts it').status, suite().output).toBe('passed')
    expect(suite().test('uses it').status, suite().output).toBe('passed')
    expect(suite().test('gives back what the function gives, and throws what it throws').status, suite().output).toBe('passed')
    expect(suite().output).toContain(`pid ${suite().notes['server']}  sleep 300`)
    expect(suite().output).toContain('A process that this file started is still alive.')
  })

  test('ends with the run, whatever started it', () => {
    const { notes, output, receiptsOf } = suite()
    expect(['server', 'api', 'worker'].filter((name) => hasProgram(notes[name]))).toEqual([])
    expect(receiptsOf('api')).toMatchObject([{ identity: { pid: notes['api'] }, forced: false, left: [] }])
    expect(output).toContain(`ended with the run: pid ${notes['worker']}  sleep 301`)
  })

  test('is refused where there is no such scope', () => {
    expect(suite().test('has no such scope').messages).toContain('Could not start for the scope "galaxy"')
  })
})

describe.each(runners)('a baseline of %s', (runner) => {
  const files = {
    a: `
      test('leaks', () => { spawn('sleep', ['300'], { stdio: 'ignore' }) })
      test('leaks sometimes', () => { if (process.env.FIXED !== 'yes') spawn('sleep', ['301'], { stdio: 'ignore' }) })`,
    b: `
      beforeAll(() => { if (process.env.FIXED !== 'yes') spawn('sleep', ['302'], { stdio: 'ignore' }) })
      test('is green', () => {})`,
  }
  const entry = (file: string, title: string, seconds: string) => ({
    ...{ project: '', file: `${file}.check.${runner === 'jest' ? 'cjs' : 'mjs'}`, test: title },
    argv: ['sleep', seconds],
  })
  const all = [entry('a', 'leaks', '<n>'), entry('a', 'leaks sometimes', '<n>'), entry('b', '', '<n>')]
  const run = (env: Record<string, string>, baseline: unknown[] | null = null, args: string[] = []) =>
    runSuite(runner, {
      ...{ files, env, args },
      ...(baseline !== null && { extras: { 'custody-baseline.json': JSON.stringify({ version: 1, leaks: baseline }) } }),
    })

  test('is written on request: what is found is listed, and green', async () => {
    const { baseline, exitCode, output } = await run({ CUSTODY_BASELINE: 'update' })
    expect(exitCode, output).toBe(0)
    expect(baseline).toEqual({ version: 1, leaks: all })
    expect(output).toContain('wrote custody-baseline.json: 3 known leaks')
  })

  test('keeps what it lists green, and nothing else', async () => {
    const { exitCode, output, test } = await run({}, [all[0], all[2]])
    expect(exitCode, output).toBe(1)
    expect([test('leaks').status, test('leaks sometimes').status, test('is green').status], output).toEqual([
      'passed',
      'failed',
      'passed',
    ])
    expect(output).not.toContain('A process that this file started')
  })

  test('says what is fixed, and takes it out on request', async () => {
    const { exitCode, output } = await run({ FIXED: 'yes' }, all)
    expect(exitCode, output).toBe(0)
    expect(output).toContain('baseline: 2 of 3 known leaks not found any more; CUSTODY_BASELINE=update')
    const { baseline } = await run({ FIXED: 'yes', CUSTODY_BASELINE: 'update' }, all)
    expect(baseline).toEqual({ version: 1, leaks: [all[0]] })
  })

  test('loses nothing when the run leaves out tests', async () => {
    const { baseline } = await run({ FIXED: 'yes', CUSTODY_BASELINE: 'update' }, all, ['-t', 'leaks sometimes'])
    expect(baseline).toEqual({ version: 1, leaks: all })
  })

  test('ends the run when it is none', async () => {
    const { exitCode, output } = await run({}, ['no leak'])
    expect(exitCode).toBe(1)
    expect(output).toContain('Could not read the baseline')
  })
})
