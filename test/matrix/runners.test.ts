import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runners, type SuiteResult, shareSuite } from '../contract/run-suite.js'
import type { ToldAct } from '../witness/look-alikes.js'
import type { Told } from './arrange-rows.js'
import { expectOutcome } from './expect-outcome.js'
import { isWaitedFor } from './options.js'
import { actsFile, suiteOf } from './play-in-runner.js'
import { rows } from './rows.js'

const ofRunners = rows.filter(({ coreAlone }) => coreAlone === undefined)
const groups = [
  { group: 'where somebody proves who he is', played: ofRunners.filter((row) => !isWaitedFor(row)) },
  { group: 'where nobody proves anything', played: ofRunners.filter(isWaitedFor) },
]
const suites = runners.flatMap((runner) => groups.map((each) => ({ runner, ...each })))

describe.concurrent.each(suites)('$runner, $group,', ({ played, runner }) => {
  const directory = mkdtempSync(join(tmpdir(), 'matrix-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  const suite = shareSuite(runner, () => suiteOf(runner, played, directory), 400_000)

  test.each(played)('leaves alone: $title', (row) => {
    const { scope, ...told } = toldOf(suite(), row.title)
    const { messages, status } = suite().test(row.title)
    expect(status, messages).toBe(row.failure === undefined ? 'passed' : 'failed')
    const receipts = suite().receipts.filter((each) => each.scope === scope)
    expectOutcome(row, { ...told, receipts, failures: errorsOf(messages) })
  })

  test('sends no signal to anybody', () => {
    expect(suite().receipts.flatMap(({ signals }) => signals)).toEqual([])
    const file = actsFile(directory)
    const acts = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
    // Who is owned was asked to leave: so much is told, and no more.
    const owned = suite().receipts.filter(({ verdict }) => verdict === 'owned')
    expect(acts.map((line) => (JSON.parse(line) as ToldAct).act)).toEqual(owned.map(() => 'shutdown request'))
    expect(suite().summary).toMatchObject({ forced: 0, leaked: 0, runtimes: suite().receipts.length })
  })
})

/** The errors of Custody in what a runner says of a test. */
function errorsOf(messages: string): string[] {
  return [...messages.matchAll(/^.*?(Could not .*)$/gm)].map(([, text]) => text as string)
}

function toldOf({ directory, output }: SuiteResult, title: string): Told {
  const lines = readFileSync(join(directory, 'told.jsonl'), 'utf8').split('\n').filter(Boolean)
  const told = lines.map((line) => JSON.parse(line) as Told).find((each) => each.title === title)
  if (told === undefined) throw new Error(`The row was not played:\n${output}`)
  return told
}
