import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catchSignals } from '../witness/catch-signals.js'
import { check } from './check.js'
import { births, handlings, Machine } from './machine.js'

type Command = fc.AsyncCommand<object, Machine, true>

/** A step that can always be taken, and has a name for the report. */
function step(name: string, run: (machine: Machine) => unknown): Command {
  return {
    check: async () => true,
    run: async (_, machine) => {
      await run(machine)
      // Whatever was done: nobody has asked a stranger to leave, and been heard.
      for (const { host } of machine.strangers) {
        expect(host.shutdowns).toEqual([])
        expect(host.isAlive).toBe(true)
      }
    },
    toString: () => name,
  }
}

const places = fc.constantFrom('0.json', '1.json', '2.json', '3.json')
const which = fc.nat({ max: 20 })
const seen = { retired: 0, spared: 0 }

const publications = fc
  .tuple(fc.constantFrom(...births), places)
  .map(([birth, place]) => step(`publish ${birth} at ${place}`, (machine) => machine.publish(birth, place)))
const handles = fc
  .tuple(fc.constantFrom(...handlings), which, places)
  .map(([act, file, place]) => step(`${act} ${file} to ${place}`, (machine) => machine.handle(act, file, place)))
const strandings = fc
  .tuple(which, places)
  .map(([runtime, place]) => step(`strand ${runtime} at ${place}`, (machine) => machine.strand(runtime, place)))
const deaths = which.map((runtime) => step(`kill ${runtime}`, (machine) => machine.kill(runtime)))
const restarts = which.map((runtime) => step(`restart ${runtime}`, (machine) => machine.restart(runtime)))
const captures = fc.constant(step('capture', (machine) => machine.capture()))
const teardowns = fc.constant(step('tear down', tearDown))

async function tearDown(machine: Machine): Promise<void> {
  const strangers = new Set(machine.strangers.map(({ instance }) => instance))
  const places = new Map(machine.runtimes.map((runtime) => [runtime.instance, runtime.places]))
  const { due, faults, findings } = await machine.tearDown()
  expect(faults).toEqual([])
  for (const { evidence, instance, receipt } of findings) {
    expect(receipt.signals).toEqual([])
    // Wherever else a locator lies, it is not its runtime's.
    if (receipt.verdict === 'owned') expect(places.get(instance ?? '')?.has(evidence.path)).toBe(true)
    if (instance !== null && strangers.has(instance)) expect(receipt.verdict).not.toBe('owned')
  }
  for (const { host, instance } of due) {
    expect(await host.program.exited).toEqual({ code: 0, signal: null })
    expect(host.shutdowns).toEqual(['request'])
    const receipts = findings
      .filter((finding) => finding.instance === instance)
      .map(({ receipt }) => [receipt.verdict, receipt.exit])
    expect(receipts).toContainEqual(['owned', 'observed'])
  }
  seen.retired += due.length
  seen.spared += strangers.size
}

test('whatever is published, copied, replaced, restarted or killed, strangers stay, and who is published in the scope is retired', async () => {
  const sent = catchSignals()
  const machine = new Machine()
  const commands = fc.commands(
    [publications, publications, publications, handles, handles, strandings, deaths, restarts, captures, teardowns],
    { maxCommands: 12, size: 'max' },
  )
  await check(
    fc.asyncProperty(fc.array(fc.constantFrom(...births), { minLength: 2, maxLength: 4 }), commands, async (first, sequence) => {
      await machine.reset()
      for (const [at, birth] of first.entries()) await machine.publish(birth, `${at}.json`)
      await fc.asyncModelRun(() => ({ model: {}, real: machine }), sequence)
      await tearDown(machine)
      expect(sent).toEqual([])
    }),
    12,
  )
  await machine.reset()
  expect(Math.min(seen.retired, seen.spared)).toBeGreaterThan(5)
})
