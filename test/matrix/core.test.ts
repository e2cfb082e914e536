import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Act, addWitness } from '../../packages/core/src/witness/witness.js'
import { expectOutcome } from './expect-outcome.js'
import { playInCore } from './play-in-core.js'
import type { Outcome } from './row.js'
import { rows } from './rows.js'

// They wait more than they work: all are arranged at once, and settled at once.
const played = rows.filter(({ isApart = false }) => !isApart)
const sent: Act[] = []
let removeWitness = () => {}
let outcomes: Map<string, PromiseSettledResult<Outcome>>

beforeAll(async () => {
  removeWitness = addWitness((act) => act.act === 'signal' && sent.push(act))
  const settled = await Promise.allSettled(playInCore(played))
  outcomes = new Map(played.map(({ title }, at) => [title, settled[at] as PromiseSettledResult<Outcome>]))
}, 150_000)
afterAll(() => removeWitness())

test.each(played)('leaves alone: $title', (row) => {
  const outcome = outcomes.get(row.title)
  if (outcome?.status !== 'fulfilled') throw outcome?.reason
  expectOutcome(row, outcome.value)
})

test('sends no signal to anybody', () => expect(sent).toEqual([]))
