import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { ToldAct } from '../witness/look-alikes.js'
import { describeRunners, shareSuite } from './run-suite.js'

describeRunners('the file of the witnesses', (runner) => {
  const directory = mkdtempSync(join(tmpdir(), 'witness-'))
  const file = join(directory, 'acts.jsonl')
  const suite = shareSuite(runner, () => ({
    env: { CUSTODY_WITNESS: file },
    options: { leaks: 'warn' },
    files: {
      acting: `
        test('starts nothing', () => {})
        test('starts one', async () => note('started', (await custody.start({ name: 'one', command: ['sleep', '100'] })).pid))
        test('leaves a daemon', async () => note('daemon', await leave('obeying')))
        test('leaves a process', () => note('left', spawn('sleep', ['100'], { detached: true, stdio: 'ignore' }).pid))`,
    },
  }))
  afterAll(() => rmSync(directory, { recursive: true }))
  const actsOn = (name: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as ToldAct)
      .filter(({ pid }) => pid === suite().notes[name])

  test('has the signals of the supervisor to what it has started', () => {
    const [stop, ...more] = actsOn('started')
    expect(stop, suite().output).toMatchObject({ act: 'signal', signal: 'SIGTERM', to: 'group', proof: 'own child' })
    expect(stop?.start).toMatch(/^\d+$/)
    expect(more.filter((act) => act.act === 'signal' && act.signal !== 'SIGCONT')).toEqual([])
  })

  test('has the request to a daemon, with why it was found to be owned, and no signal to it', () => {
    const proof = 'it was born in this namespace and published this locator'
    expect(actsOn('daemon')).toMatchObject([
      { act: 'shutdown request', locator: expect.stringMatching(/\/registry\/[^/]+\.json$/), proof },
    ])
  })

  test('has the signal to what a test has left, by what the kernel shows of it', () => {
    const acts = actsOn('left').filter((act) => act.act === 'signal' && act.signal !== 'SIGCONT')
    expect(acts).toMatchObject([{ act: 'signal', signal: 'SIGTERM', to: 'process' }])
    expect(['seen at birth', 'environment']).toContain(acts[0]?.proof)
  })

  test('has nothing else', () => {
    const { notes } = suite()
    const all = new Set(readFileSync(file, 'utf8').match(/"pid":\d+/g))
    expect([...all].sort()).toEqual(
      Object.values(notes)
        .map((pid) => `"pid":${pid}`)
        .sort(),
    )
  })
})
