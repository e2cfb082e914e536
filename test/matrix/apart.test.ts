import { execa } from 'execa'
import { beforeAll, expect, test } from 'vitest'
import { apart, bundleStage } from './apart.js'
import { expectOutcome } from './expect-outcome.js'
import type { Outcome } from './row.js'
import { rows } from './rows.js'

const played = rows.filter(({ isApart = false }) => isApart)
let outcomes: Readonly<Record<string, Outcome | { readonly error: string }>>

/** One after the other: only so a number can be chosen for the next process. */
const script = `
  import { addWitness } from '../../packages/core/src/witness/witness.js'
  import { playInCore } from './play-in-core.js'
  import { rows } from './rows.js'
  const sent = []
  addWitness((act) => act.act === 'signal' && sent.push(act.signal))
  const outcomes = {}
  for (const row of rows.filter(({ isApart }) => isApart)) {
    outcomes[row.title] = await playInCore([row])[0].catch((error) => ({ error: error.stack }))
  }
  console.log(JSON.stringify({ outcomes, sent }))`
let sent: readonly string[]

beforeAll(async () => {
  const [file, ...args] = apart
  const { stdout } = await execa(file, [...args, process.execPath, '--input-type=module'], {
    input: bundleStage(script),
    timeout: 300_000,
    killSignal: 'SIGKILL',
  })
  const said = JSON.parse(stdout) as { outcomes: typeof outcomes; sent: readonly string[] }
  outcomes = said.outcomes
  sent = said.sent
}, 320_000)

test.each(played)('leaves alone, in namespaces of its own: $title', (row) => {
  const outcome = outcomes[row.title]
  if (outcome === undefined || 'error' in outcome) throw new Error(outcome?.error)
  expectOutcome(row, outcome)
})

test('sends no signal to anybody', () => expect(sent).toEqual([]))
