import type { Identity } from '@custody/runtime'
import { NAMESPACE_VARIABLE, ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type InitialVariable, type ProcessEntry, platform } from '../../packages/core/src/platform/index.js'
import type { Birthmark } from '../../packages/core/src/tree/birthmark.js'
import { findBornHere } from '../../packages/core/src/tree/find-born-here.js'
import { check } from './check.js'

const scope = 'a'.repeat(32)
const kept = `${scope}.r1`
const log = { dev: 1, ino: 7 }

/** A process of a generated machine. */
interface Made {
  readonly pid: number
  readonly parent: number
  readonly start: number
  readonly variable: InitialVariable
  readonly writes: boolean
  /** In which listing it is first there. */
  readonly since: 1 | 2
}

// This process has the number 10 here, and 9 and 8 stand above it.
const ownPid = 10
const above = [8, 9, ownPid]
const variables = fc.constantFrom<InitialVariable>(
  'absent',
  'unreadable',
  { value: '' },
  { value: `${scope}:/run/x` },
  { value: `${scope}.f1:/run/x` },
  { value: `${kept}:/run/x` },
  { value: `${scope}0:/run/x` },
  { value: `b:/${scope}:/run` },
)
const numbers = fc.integer({ min: 2, max: 16 })
const made: fc.Arbitrary<Made> = fc.record({
  pid: numbers,
  parent: fc.oneof({ weight: 3, arbitrary: numbers }, { weight: 1, arbitrary: fc.constantFrom(0, 1) }),
  start: fc.integer({ min: 1, max: 9 }),
  variable: variables,
  writes: fc.boolean(),
  since: fc.constantFrom(1 as const, 1 as const, 2 as const),
})

const identityOf = (pid: number, start: number | null): Identity => ({
  ...ownIdentity(),
  pid,
  start: start === null ? null : String(start),
})
const identities = fc.tuple(numbers, fc.option(fc.integer({ min: 1, max: 9 }))).map(([pid, start]) => identityOf(pid, start))

/** Processes of which each number is there once, with this one and those above it. */
const machines = fc
  .tuple(
    fc.uniqueArray(made, { selector: ({ pid }) => pid, maxLength: 10 }),
    fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  )
  .map(([others, marked]): Made[] => {
    const ours = above.map((pid, at): Made => {
      // Whatever they carry.
      const variable = marked[at] ? ({ value: `${scope}:/run/x` } as const) : ('absent' as const)
      return { pid, parent: pid === 8 ? 1 : pid - 1, start: 1, variable, writes: marked[at] === true, since: 1 }
    })
    return [...others.filter(({ pid }) => !above.includes(pid)), ...ours]
  })

const marks: fc.Arbitrary<Birthmark> = fc
  .record({
    namespace: fc.option(fc.constant(scope)),
    files: fc.constantFrom([], [log]),
    known: fc.array(identities, { maxLength: 2 }),
    since: fc.option(fc.integer({ min: 1, max: 9 }).map(String)),
    except: fc.option(
      fc.array(
        fc.oneof(
          fc.constant({ namespace: kept, files: [], known: [] }),
          identities.map((identity) => ({ namespace: null, files: [], known: [identity] })),
        ),
        { maxLength: 2 },
      ),
    ),
  })
  .map(({ except, since, ...mark }) => ({ ...mark, ...(since !== null && { since }), ...(except !== null && { except }) }))

/** Has the platform tell of these instead of the machine's. */
function play(): (machine: readonly Made[]) => void {
  let machine: readonly Made[] = []
  let listing = 0
  const entryOf = ({ parent, pid, start }: Made): ProcessEntry => ({ pid, parent, group: pid, start: String(start), comm: 'x' })
  const own = ownIdentity()
  const { pid } = own
  // It is its own object, of which all ask.
  own.pid = ownPid
  const spies = [
    vi.spyOn(platform, 'listProcesses').mockImplementation((listed = new Set()) => {
      listing++
      const fresh = machine.filter((each) => each.since <= listing && !listed.has(each.pid))
      for (const each of fresh) listed.add(each.pid)
      return fresh.map(entryOf)
    }),
    vi.spyOn(platform, 'readInitialVariable').mockImplementation((of, name) => {
      const found = machine.find((each) => each.pid === of)
      return name === NAMESPACE_VARIABLE && found !== undefined ? found.variable : 'absent'
    }),
    vi
      .spyOn(platform, 'listWrittenFiles')
      .mockImplementation((of) => (machine.some((each) => each.pid === of && each.writes) ? [log] : [])),
    vi.spyOn(platform, 'readLastPid').mockImplementation(() => null),
    vi.spyOn(runtimePlatform, 'readStart').mockImplementation((of) => {
      const found = machine.find((each) => each.pid === of)
      return found === undefined ? null : String(found.start)
    }),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
    own.pid = pid
  })
  return (next) => {
    machine = next
    listing = 0
  }
}

/** Whether a process shows by itself that it was born of a mark. */
function showsBirth({ pid, start, variable, writes }: Made, mark: Birthmark): boolean {
  if (mark.since !== undefined && start < Number(mark.since)) return false
  const { namespace } = mark
  const isNamed =
    namespace !== null && typeof variable === 'object' && [':', '.'].some((end) => variable.value.startsWith(namespace + end))
  return (
    isNamed || (writes && mark.files.length > 0) || mark.known.some((each) => each.pid === pid && each.start === String(start))
  )
}

test('who is found was born here, by what the kernel shows of it or of whom it descends from, and nobody else is', async () => {
  const set = play()
  const seen = { found: 0, spared: 0, exempt: 0 }
  await check(
    fc.property(machines, marks, fc.array(identities, { maxLength: 3 }), (machine, mark, spared) => {
      set(machine)
      const told = new Set<number>()
      const found = findBornHere(mark, spared, {
        onFound: ({ pid }) => told.add(pid),
        onLost: ({ pid }) => told.delete(pid),
      })
      const pids = new Set(found.map(({ pid }) => pid))
      // Who was taken for one at first, and may have been stopped, is told to be none.
      expect(told).toEqual(pids)

      const byPid = new Map(machine.map((each) => [each.pid, each]))
      const isSpared = ({ pid, start }: Made) =>
        above.includes(pid) || spared.some((each) => each.pid === pid && each.start === String(start))
      const isExempt = (of: Made): boolean => {
        const visited = new Set<number>()
        for (let at: Made | undefined = of; at !== undefined && !visited.has(at.pid); at = byPid.get(at.parent)) {
          visited.add(at.pid)
          if ((mark.except ?? []).some((each) => showsBirth(at as Made, each))) return true
        }
        return false
      }
      for (const { pid, start } of found) {
        const process = byPid.get(pid) as Made
        // Another that has its number is another.
        expect(String(process.start)).toBe(start)
        expect(isSpared(process)).toBe(false)
        expect(pid).toBeGreaterThan(1)
        expect(isExempt(process)).toBe(false)
        const parent = byPid.get(process.parent)
        const isChild = parent !== undefined && pids.has(parent.pid) && parent.start <= process.start
        expect(showsBirth(process, mark) || isChild).toBe(true)
      }
      // And everybody who was.
      for (const process of machine) {
        if (isSpared(process)) seen.spared++
        else if (isExempt(process)) seen.exempt++
        else if (showsBirth(process, mark)) expect(pids.has(process.pid)).toBe(true)
        else if (pids.has(process.parent) && process.start >= (byPid.get(process.parent) as Made).start)
          expect(pids.has(process.pid)).toBe(true)
      }
      seen.found += found.length
    }),
    1_500,
  )
  expect(Math.min(seen.found, seen.spared, seen.exempt)).toBeGreaterThan(100)
})
