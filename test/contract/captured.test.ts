import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Locator, readLocator } from '@custody/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isAlive } from './alive.js'
import { describeRunners, leftOf, type SuiteResult, shareSuite } from './run-suite.js'

describeRunners('in the registry and in globbed places', (runner) => {
  let elsewhere: string
  let earlier: ChildProcess
  let locatorOfEarlier: Locator

  beforeAll(async () => {
    elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'elsewhere-')))
    earlier = await startBeforeTheRun(elsewhere)
    locatorOfEarlier = readLocator(join(elsewhere, 'obeying.json'))
  })
  const suite = shareSuite(runner, () => ({
    options: { locators: ['found/*.json', `${elsewhere}/*.json`] },
    env: { ELSEWHERE: elsewhere },
    files: { captured: finalizers + globs(runner) },
  }))
  afterAll(async () => {
    earlier.kill()
    if (earlier.exitCode === null && earlier.signalCode === null) await once(earlier, 'exit')
    rmSync(elsewhere, { recursive: true })
  })

  test('what a finalizer publishes is retired', () => {
    expect(suite().test('publishes before and in its finalizer').status, suite().output).toBe('passed')
    expect(outcomesOf(suite(), 'publishes before and in its finalizer')).toEqual([
      ['in-body.json', 'owned', 'observed'],
      ['in-finalizer.json', 'owned', 'observed'],
    ])
  })

  test('a runtime is retired although a finalizer deletes its locator', () => {
    const [receipt] = suite().receipts.filter(({ test }) => test?.endsWith('has its locator deleted'))
    expect(suite().test('has its locator deleted').status, suite().output).toBe('passed')
    expect(receipt).toMatchObject({ verdict: 'owned', exit: 'observed' })
    expect(receipt?.steps.map(({ step }) => step)).toContain('locator removed')
  })

  test('a runtime that does not know its namespace is owned by a relative glob when the kernel shows its birth', () => {
    const [receipt] = suite().receipts.filter(({ test }) => test?.endsWith('publishes where a relative glob looks'))
    expect(suite().test('publishes where a relative glob looks').status, suite().output).toBe('passed')
    expect(receipt).toMatchObject({
      name: 'published-without-a-namespace',
      verdict: 'owned',
      exit: 'observed',
      evidence: { source: 'glob', namespace: null, born: 'environment' },
    })
  })

  test('a runtime that an absolute glob finds is retired with its file', () => {
    const [receipt] = suite().receipts.filter(
      ({ evidence }) => evidence?.path === join(elsewhere, 'published-without-a-namespace.json'),
    )
    expect(suite().test('publishes where an absolute glob looks').status, suite().output).toBe('passed')
    expect(receipt).toMatchObject({ verdict: 'owned', exit: 'observed', evidence: { source: 'glob', born: 'environment' } })
    expect(receipt?.scope).toMatch(/^[0-9a-f]{32}\.[0-9a-f]{16}$/)
  })

  // G03
  test('a runtime that was there before the run is left alone and told, and all is green', () => {
    const receipts = suite().receipts.filter(({ identity }) => identity?.pid === locatorOfEarlier.pid)
    expect(receipts.map(({ verdict, reason, steps }) => [verdict, reason, steps.map(({ step }) => step)])).toEqual([
      ['foreign', 'it was there before this run', ['captured']],
    ])
    expect(isAlive(locatorOfEarlier)).toBe(true)
    expect(suite().output).toContain(`left alone: "obeying" by ${join(elsewhere, 'obeying.json')}: it was there before this run`)
  })

  // G07
  test('a runtime that runs inside the test process is left alone, and its test is green', () => {
    const [receipt] = suite().receipts.filter(({ test }) => test?.endsWith('serves inside the test process'))
    expect(suite().test('serves inside the test process').status, suite().output).toBe('passed')
    expect(receipt).toMatchObject({ verdict: 'foreign', evidence: { answer: null } })
    expect(receipt?.reason).toContain('it runs inside the test run')
  })

  test('nothing of it makes the run red', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    expect(suite().summary).toMatchObject({ owned: 5, retired: 5, foreign: 2, unproven: 0 })
  })
})

describeRunners("with published: 'fail' and unproven: 'warn'", (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { published: 'fail', unproven: 'warn', timeouts: { proofMs: 500 } },
    files: {
      both: `
        test('leaves a runtime', async () => { await leave('obeying') })
        test('leaves what proves nothing', async () => { await leave('answering-garbage') })`,
    },
  }))
  afterAll(() => suite().release(leftOf(suite().receipts)))

  test('a test that leaves a runtime is red, although it was retired', () => {
    const { placeOf, receiptsOf, test } = suite()
    const { messages, status } = test('leaves a runtime')
    expect(status).toBe('failed')
    expect(messages).toMatch(/Could not accept runtime "obeying" \(pid \d+\): it was left running\./)
    expect(messages).toContain("Hint: stop it in the test, or allow it with published: 'retire'.")
    expect(messages).toContain(placeOf("await leave('obeying')"))
    expect(receiptsOf('obeying')).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
  })

  test('a test that leaves what proves nothing is green, and the run warns of it', () => {
    const [receipt] = suite().receiptsOf('answering-garbage')
    expect(suite().test('leaves what proves nothing').status, suite().output).toBe('passed')
    expect(suite().output).toContain(`warning: Could not retire runtime "answering-garbage" (pid ${receipt?.identity?.pid})`)
    // Not by its locator, which proves nothing, but by what the kernel shows of its birth.
    expect(leftOf(suite().receipts).map(isAlive)).toEqual([false])
  })
})

describeRunners("with markChildren: false and unproven: 'ignore'", (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { markChildren: false, unproven: 'ignore', locators: ['found/*.json'] },
    files: {
      unmarked: `
        test('starts a child', () => {
          const found = path.join(custody.namespace.dir, 'found')
          fs.mkdirSync(found)
          leaveIn(found, 'obeying')
        })
        test('runs a command', async () => { await leave('leaving-its-locator') })`,
    },
  }))
  afterAll(() => suite().release(leftOf(suite().receipts)))

  test('a runtime does not know whose it is, is left alone, and nothing is said of it', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    const [receipt] = suite().receiptsOf('obeying')
    expect(receipt).toMatchObject({ verdict: 'unproven', exit: 'not observed', evidence: { namespace: null, born: 'no' } })
    expect(receipt?.reason).toBe("it was started without the namespace's environment")
    expect(leftOf(suite().receipts).map(isAlive)).toEqual([true])
    expect(suite().output).not.toContain('warning')
  })

  test('what a command of the namespace leaves is retired still', () => {
    expect(suite().receiptsOf('leaving-its-locator')).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
  })
})

describeRunners('what cannot be accounted for', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { locators: ['found/*.json'] },
    files: {
      hidden: `
        test('has its child opted out', () => {
          const env = { ...inHome(custody.namespace.home).env, CUSTODY_NAMESPACE: '' }
          execFileSync(process.execPath, command('obeying'), { env })
          note('opted out', JSON.parse(fs.readFileSync(path.join(custody.namespace.home, 'obeying.json'))))
        })
        test('changes the mode of its entry', async () => {
          await leave('leaving-its-locator')
          note('entry', JSON.parse(fs.readFileSync(path.join(custody.namespace.home, 'leaving-its-locator.json'))))
          const registry = path.join(custody.namespace.env.CUSTODY_NAMESPACE.split(':')[1], 'registry')
          const [entry] = fs.readdirSync(registry).filter((name) => name.startsWith(custody.namespace.id))
          fs.chmodSync(path.join(registry, entry), 0o644)
        })`,
    },
  }))
  const noted = (name: string) => suite().notes[name] as Locator
  afterAll(() => suite().release([noted('opted out'), noted('entry')]))

  test("keeps no custody of a child whose environment says CUSTODY_NAMESPACE: ''", () => {
    expect(suite().test('has its child opted out').status, suite().output).toBe('passed')
    expect(noted('opted out').namespace).toBeNull()
    expect(suite().receiptsOf('obeying')).toEqual([])
    expect(isAlive(noted('opted out'))).toBe(true)
  })

  test('fails the run for an entry of the registry that cannot be read, and ends its runtime by other evidence', () => {
    const { exitCode, fileMessages, output, receipts, tests } = suite()
    expect(exitCode).toBe(1)
    const messages = [fileMessages, ...tests.map(({ messages }) => messages)].join('\n')
    expect(messages, output).toContain('its mode is 0644, so that others can reach it')
    expect(messages).toContain('Hint: do not write to the registry of a run, nor change modes below it.')
    expect(receipts.map(({ verdict }) => verdict)).toEqual(['invalid'])
    expect(isAlive(noted('entry'))).toBe(false)
  })
})

// B36
describeRunners('a namespace without a locator, beside a live daemon of the same product,', (runner) => {
  let home: string
  let theirs: ChildProcess
  const suite = shareSuite(runner, async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'theirs-')))
    theirs = await startBeforeTheRun(home)
    return {
      env: { HOME: home },
      files: {
        alone: `
          test('stops its own', async () => {
            note('found', await custody.runtimes())
            note('retired', await custody.retire(path.join(custody.namespace.home, 'obeying.json')).catch(({ code }) => code))
          })
          test('starts its own', async () => note('own', await leave('obeying')))`,
      },
    }
  })
  afterAll(async () => {
    theirs.kill('SIGKILL')
    if (theirs.exitCode === null && theirs.signalCode === null) await once(theirs, 'exit')
    rmSync(home, { recursive: true })
  })

  test('has nothing to stop, and does not look for it elsewhere', () => {
    expect(suite().notes, suite().output).toMatchObject({ found: [], retired: 'CUSTODY_LOCATOR_MISSING' })
    expect([theirs.exitCode, theirs.signalCode]).toEqual([null, null])
  })

  test('has its own when it starts one', () => {
    const { exitCode, notes, output, receipts } = suite()
    expect(exitCode, output).toBe(0)
    expect(receipts.map(({ exit, identity, verdict }) => [verdict, exit, identity?.pid])).toEqual([
      ['owned', 'observed', notes['own']],
    ])
  })
})

/** A runtime that is no test's: this process is its parent. */
async function startBeforeTheRun(home: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../programs/daemons/obeying.js', import.meta.url))
  const { CUSTODY_NAMESPACE: _, ...env } = process.env
  const child = fork(program, { env: { ...env, HOME: home }, stdio: 'ignore' })
  await once(child, 'message')
  return child
}

/** The receipts of a test: the name of each locator, the verdict, and the exit. */
function outcomesOf({ receipts }: SuiteResult, title: string): unknown[][] {
  return receipts
    .filter(({ test }) => test?.endsWith(` ${title}`))
    .map(({ evidence, exit, verdict }) => [evidence?.frozenPath?.split('/').at(-1), verdict, exit])
}

const finalizers = `
  const at = (name) => path.join(custody.namespace.dir, name)
  describe('publishing', () => {
    afterEach(async () => { await leave('obeying', at('in-finalizer.json')) })
    test('publishes before and in its finalizer', async () => { await leave('obeying', at('in-body.json')) })
  })
  describe('deleting', () => {
    let locator
    afterEach(() => fs.rmSync(locator))
    test('has its locator deleted', async () => { locator = at('deleted.json'); await leave('obeying', locator) })
  })`

const globs = (runner: string) => `
  const runtime = ${runner === 'vitest' ? "await import('@custody/runtime')" : "require('@custody/runtime')"}
  const found = (name) => {
    const directory = path.join(custody.namespace.dir, 'found')
    fs.mkdirSync(directory)
    return path.join(directory, name)
  }
  let served
  afterEach(() => served?.close())
  test('publishes where a relative glob looks', async () => { await leave('published-without-a-namespace', found('it.json')) })
  test('publishes where an absolute glob looks', () => {
    leaveIn(process.env.ELSEWHERE, 'published-without-a-namespace')
  })
  test('serves inside the test process', async () => {
    served = await runtime.serveRuntime({ name: 'inside', locator: found('inside.json'), onShutdown() {}, signals: false, exit: false })
  })`
