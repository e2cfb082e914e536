import fc from 'fast-check'
import { afterAll, vi } from 'vitest'

/** How many times as many inputs as in `npm test`. */
const times = Number(process.env['CUSTODY_PROPERTY_RUNS'] ?? 1)
const seed = Number(process.env['CUSTODY_PROPERTY_SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
let inputs = 0
vi.setConfig({ testTimeout: 60_000 * times })

/**
 * Has a property hold for so many generated inputs. What fails names its seed: CUSTODY_PROPERTY_SEED gives the same inputs again.
 * @param runs in `npm test`; CUSTODY_PROPERTY_RUNS says how many times as many
 */
export async function check<T>(property: fc.IRawProperty<T>, runs: number): Promise<void> {
  inputs += runs * times
  await fc.assert(property, { numRuns: runs * times, seed })
}

afterAll(() => {
  if (times > 1) console.log(`${inputs} inputs, CUSTODY_PROPERTY_SEED=${seed}`)
})
