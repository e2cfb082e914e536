import type { Receipt } from '@custody/core'
import { expect, test } from 'vitest'
import { describeRunners, type SuiteResult, shareSuite } from './run-suite.js'

describeRunners('a scope', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      hooks: runner === 'vitest' ? hooks + skipping : hooks,
      retried,
      late,
      // Blocks of their own: one file costs less than four.
      calls: [concurrent, elsewhere, refused, namespaces].map((part) => `{${part}\n}`).join('\n'),
    },
  }))

  test('gives concurrent tests a namespace each, and one that fails does not touch the other', () => {
    const { notes, test } = suite()
    expect(test('one at a time with another').messages).toContain('on purpose')
    expect(test('another at a time with one').status, suite().output).toBe('passed')
    expect(notes['one']).not.toBe(notes['another'])
    expect(scopesOf(suite(), 'one at a time with another')).toEqual([notes['one']])
    expect(scopesOf(suite(), 'another at a time with one')).toEqual([notes['another']])
  })

  test('has the top level, beforeAll and afterAll act in the file', () => {
    const { notes, receipts, test } = suite()
    expect(test('sees what the file started').status, suite().output).toBe('passed')
    expect(notes['beforeAll']).toBe(notes['top level'])
    expect(notes['afterAll']).toBe(notes['top level'])
    expect(notes['afterAll of a block']).toBe(notes['top level'])
    const ofFile = receipts.filter(({ scope }) => scope === notes['top level'])
    expect(ofFile.map(({ evidence, test, verdict }) => [nameOf(evidence?.frozenPath ?? null), test, verdict]).sort()).toEqual([
      ['after-all.json', undefined, 'owned'],
      ['before-all.json', undefined, 'owned'],
    ])
  })

  test('has beforeEach and afterEach act in the test, in describe blocks too', () => {
    const { notes, test } = suite()
    expect(test('inner').status, suite().output).toBe('passed')
    expect(notes['beforeEach']).toBe(notes['inner'])
    expect(notes['afterEach']).toBe(notes['inner'])
    expect(notes['inner']).toMatch(new RegExp(`^${notes['top level']}\\.\\d+$`))
    const receipts = receiptsOfTest(suite(), 'inner')
    expect(receipts.map(({ evidence, verdict }) => [nameOf(evidence?.frozenPath ?? null), verdict]).sort()).toEqual([
      ['after-each.json', 'owned'],
      ['before-each.json', 'owned'],
    ])
    expect(receipts[0]?.test).toMatch(/^hooks\.check\.\w+ \S (around) \S \1 this \S inner$/)
  })

  test('ends the first attempt of a retried test before the second begins, which has a namespace of its own', () => {
    const { notes, test } = suite()
    expect(test('fails at first').status, suite().output).toBe('passed')
    const scopes = scopesOf(suite(), 'fails at first')
    expect(scopes).toHaveLength(2)
    expect(scopes).toEqual(notes['attempts'])
  })

  test('retires what a failing beforeEach started', () => {
    expect(suite().test('has a failing beforeEach').messages).toContain('not set up')
    expect(receiptsOfTest(suite(), 'has a failing beforeEach')).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
  })

  test('retires with the file what the body of a test that has timed out starts later', () => {
    const { notes, receipts, test } = suite()
    expect(test('times out').status).toBe('failed')
    expect(test('is there when the late daemon starts').status, suite().output).toBe('passed')
    const late = receipts.filter(({ identity }) => identity?.pid === notes['late'])
    expect(late).toMatchObject([{ verdict: 'owned', exit: 'observed', scope: notes['file of late'] }])
  })

  test('keeps a daemon that was published elsewhere for the next test, until its file ends', () => {
    const { notes, receipts, test } = suite()
    expect(test('publishes elsewhere').status).toBe('passed')
    expect(test('is served by the daemon of the test before').status, suite().output).toBe('passed')
    const shared = receipts.filter(({ identity }) => identity?.pid === notes['elsewhere'])
    expect(shared).toMatchObject([{ verdict: 'owned', exit: 'observed', scope: notes['file of elsewhere'] }])
  })

  test.each(['started nothing', 'started something'])('refuses calls for a test that has ended, if it %s', (what) => {
    expect(suite().test(`refuses what comes late from the test that ${what}`).status, suite().output).toBe('passed')
  })

  test('opens namespaces that are foreign to each other', () => {
    expect(suite().test('leaves the daemon of a sibling alone').status, suite().output).toBe('passed')
  })

  test('gives the receipts when a namespace is closed', () => {
    expect(suite().test('closes a namespace').status, suite().output).toBe('passed')
  })

  test('settles an opened namespace with its test when it was not closed', () => {
    expect(suite().test('closes no namespace').status).toBe('passed')
    const receipts = suite().receipts.filter(({ scope }) => scope === suite().notes['unclosed'])
    expect(receipts).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
    expect(receipts[0]?.test).toMatch(/closes no namespace › left open$/)
  })

  test('opens no namespace twice', () => {
    expect(suite().test('opens a namespace twice').status, suite().output).toBe('passed')
  })

  test('retires everything, and fails no more than what failed by itself', () => {
    const { receipts, tests } = suite()
    expect(receipts.filter(({ exit, verdict }) => exit !== 'observed' || verdict !== 'owned')).toEqual([])
    const red = tests.filter(({ status }) => status === 'failed').map(({ title }) => title)
    expect(red.sort()).toEqual(['has a failing beforeEach', 'one at a time with another', 'times out'])
  })

  // Jest has no means for it.
  if (runner === 'vitest') {
    test('retires what a test started that skips itself while it runs', () => {
      expect(suite().test('skips itself').status).toMatch(/skipped|pending/)
      expect(receiptsOfTest(suite(), 'skips itself')).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
    })
  }
})

function receiptsOfTest({ receipts }: SuiteResult, title: string): Receipt[] {
  return receipts.filter(({ test }) => test?.endsWith(` ${title}`))
}

function scopesOf(result: SuiteResult, title: string): string[] {
  return receiptsOfTest(result, title).map(({ scope }) => scope)
}

function nameOf(path: string | null): string | undefined {
  return path?.split('/').at(-1)
}

/** For the inside of a test file: something to wait for, and what ends the wait. */
const gate = `
    const gate = () => {
      let open
      const opened = new Promise((resolve) => { open = resolve })
      return { open, opened }
    }`

const skipping = `
  test('skips itself', async (context) => { await leave('obeying'); context.skip() })`

const concurrent = `
    let isOneOver = () => {}
    let isAnotherThere = () => {}
    const oneOver = new Promise((resolve) => { isOneOver = resolve })
    const anotherThere = new Promise((resolve) => { isAnotherThere = resolve })
    test.concurrent('one at a time with another', async () => {
      note('one', custody.namespace.id)
      await leave('obeying')
      await anotherThere
      setTimeout(isOneOver, 0)
      throw new Error('on purpose')
    })
    test.concurrent('another at a time with one', async () => {
      note('another', custody.namespace.id)
      const pid = await leave('obeying')
      isAnotherThere()
      await oneOver
      const [runtime, ...others] = await custody.runtimes()
      expect([runtime.verdict, runtime.pid, runtime.namespace, others.length]).toEqual(['owned', pid, custody.namespace.id, 0])
    })`

const hooks = `
    const at = (name) => path.join(custody.namespace.dir, name)
    const top = custody.namespace.id
    let early
    note('top level', top)
    beforeAll(async () => { note('beforeAll', custody.namespace.id); early = await leave('obeying', at('before-all.json')) })
    afterAll(async () => { note('afterAll', custody.namespace.id); await leave('obeying', at('after-all.json')) })
    describe('whose last test is skipped', () => {
      afterAll(() => note('afterAll of a block', custody.namespace.id))
      test('runs', () => {})
      test.skip('never runs', () => {})
    })
    test('sees what the file started', () => expect(isAlive(early)).toBe(true))
    describe('around', () => {
      beforeEach(async () => { note('beforeEach', custody.namespace.id); await leave('obeying', at('before-each.json')) })
      afterEach(async () => { note('afterEach', custody.namespace.id); await leave('obeying', at('after-each.json')) })
      describe('around this', () => {
        test('inner', () => { note('inner', custody.namespace.id); expect(isAlive(early)).toBe(true) })
      })
    })
    describe('whose beforeEach fails', () => {
      beforeEach(async () => { await leave('obeying'); throw new Error('not set up') })
      test('has a failing beforeEach', () => {})
    })`

const retried = `
    const attempts = []
    let first
    retried('fails at first', async () => {
      attempts.push(custody.namespace.id)
      note('attempts', attempts)
      if (attempts.length === 2) expect(isAlive(first)).toBe(false)
      first = await leave('obeying')
      expect(attempts.length).toBe(2)
    })`

// Nothing else starts anything in it.
const late = `
    ${gate}
    const { open, opened } = gate()
    const home = newHome()
    let late
    note('file of late', custody.namespace.id)
    test('times out', async () => {
      late = opened.then(() => leaveIn(home, 'obeying'))
      await late
    }, 100)
    test('is there when the late daemon starts', async () => {
      open()
      note('late', await late)
      expect(isAlive(await late)).toBe(true)
    })`

const refused = `
    ${gate}
    const [first, second] = [gate(), gate()]
    const version = () => custody.exec(process.execPath, ['--version'])
    let late
    test('started nothing', () => { late = first.opened.then(version) })
    test('refuses what comes late from the test that started nothing', async () => {
      first.open()
      await expect(late).rejects.toMatchObject({ code: 'CUSTODY_SCOPE_ENDED', message: expect.stringContaining('started nothing') })
    })
    test('started something', async () => {
      await leave('obeying')
      late = second.opened.then(version)
    })
    test('refuses what comes late from the test that started something', async () => {
      second.open()
      await expect(late).rejects.toMatchObject({ code: 'CUSTODY_SCOPE_ENDED', message: expect.stringContaining('started something') })
    })`

const elsewhere = `
    const home = newHome()
    let pid
    note('file of elsewhere', custody.namespace.id)
    test('publishes elsewhere', () => { pid = leaveIn(home, 'obeying'); note('elsewhere', pid) })
    test('is served by the daemon of the test before', async () => {
      expect(isAlive(pid)).toBe(true)
      const { evidence, verdict } = await custody.inspect(path.join(home, 'obeying.json'))
      expect([verdict, evidence.answer]).toEqual(['foreign', 'authentic'])
    })`

const namespaces = `
    const locatorOf = ({ home }) => path.join(home, 'obeying.json')
    const leaveAt = async (namespace) => Number((await namespace.exec(process.execPath, command('obeying'))).stdout)
    test('leaves the daemon of a sibling alone', async () => {
      const [a, b] = [custody.openNamespace('a'), custody.openNamespace('b')]
      const pid = await leaveAt(a)
      expect((await a.inspect(locatorOf(a))).verdict).toBe('owned')
      for (const stranger of [b, custody]) {
        expect((await stranger.inspect(locatorOf(a))).verdict).toBe('foreign')
        await expect(stranger.retire(locatorOf(a))).rejects.toMatchObject({ code: 'CUSTODY_NOT_OWNED', inspection: { verdict: 'foreign' } })
      }
      expect(isAlive(pid)).toBe(true)
      expect(await b.close()).toEqual([])
    })
    test('closes a namespace', async () => {
      const opened = custody.openNamespace('closed')
      const { dir, id } = opened
      const pid = await leaveAt(opened)
      const receipts = await opened.close()
      expect(receipts).toMatchObject([{ name: 'obeying', scope: id, verdict: 'owned', exit: 'observed', identity: { pid } }])
      expect([isAlive(pid), fs.existsSync(dir)]).toEqual([false, false])
    })
    test('closes no namespace', async () => {
      const opened = custody.openNamespace('left open')
      note('unclosed', opened.id)
      await leaveAt(opened)
    })
    test('opens a namespace twice', () => {
      custody.openNamespace('taken')
      expect(() => custody.openNamespace('taken')).toThrow(expect.objectContaining({ code: 'CUSTODY_NAMESPACE_TAKEN' }))
    })`
