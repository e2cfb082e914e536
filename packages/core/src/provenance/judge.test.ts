import { describe, expect, test } from 'vitest'
import type { Evidence } from './evidence.js'
import { judge, type Verdict } from './judge.js'

// Every value that each piece of evidence may have; their product is every evidence there can be.
const values = {
  source: ['registry', 'glob'],
  unreadable: [null, 'it is a symbolic link'],
  role: [null, 'this process', 'an ancestor', 'the runner', 'a worker'],
  isOlderThanRun: [false, true],
  answer: [null, 'authentic', 'false', 'garbage', 'closed', 'none'],
  statement: [null, 'complete', 'malformed', 'another instance'],
  namespace: [null, 'aa.bb'],
  isInScope: [false, true],
  isPathEqual: [false, true],
  recorded: ['alive', 'gone', 'other boot', 'unknowable'],
  born: ['environment', 'no', 'unreadable'],
  isSeenAlive: [false, true],
} as const satisfies { [K in keyof Evidence]?: readonly Evidence[K][] }

const context = { path: '/run/a.json', scope: 'aa', frozenPath: '/run/b.json', identity: null } as const

type Row = { readonly [K in keyof typeof values]?: (typeof values)[K][number] | readonly (typeof values)[K][number][] }

const authentic = { answer: 'authentic', statement: 'complete' } as const
const silent = { answer: ['closed', 'none', null] } as const
const false_ = { answer: ['false', 'garbage'] } as const
const goneForSure = { recorded: ['gone', 'other boot'] } as const

// The decision table of docs/how-it-works.md as data. The first row that matches decides.
const rows: readonly [row: number, evidence: Row, verdict: Verdict][] = [
  [1, { unreadable: 'it is a symbolic link', source: 'registry' }, 'invalid'],
  [2, { unreadable: 'it is a symbolic link', source: 'glob' }, 'invalid'],
  [3, { role: ['this process', 'an ancestor', 'the runner', 'a worker'] }, 'foreign'],
  [4, { isOlderThanRun: true }, 'foreign'],
  [5, { answer: 'authentic', statement: ['malformed', 'another instance', null] }, 'unproven'],
  [6, { ...authentic, namespace: null, isPathEqual: true, born: 'environment' }, 'owned'],
  [7, { ...authentic, namespace: null, isPathEqual: true, born: ['no', 'unreadable'] }, 'unproven'],
  [8, { ...authentic, namespace: null, isPathEqual: false }, 'foreign'],
  [9, { ...authentic, namespace: 'aa.bb', isInScope: false }, 'foreign'],
  [10, { ...authentic, namespace: 'aa.bb', isInScope: true, isPathEqual: true }, 'owned'],
  [11, { ...authentic, namespace: 'aa.bb', isInScope: true, isPathEqual: false }, 'foreign'],
  [12, { ...goneForSure }, 'gone'],
  [13, { ...false_, recorded: ['alive', 'unknowable'] }, 'unproven'],
  [14, { ...silent, recorded: ['alive', 'unknowable'] }, 'unreachable'],
]

const table = rows.map(([row, evidence, verdict]) => [row, conditionsOf(evidence), verdict] as const)
const everything = everyEvidence()

describe('the decision table', () => {
  test('decides over every combination of evidence', () => {
    const uses = new Map<number, number>()
    for (const evidence of everything) {
      const row = table.find(([, pattern]) => pattern.every((is) => is(evidence)))
      if (row === undefined) throw new Error(`No row for ${JSON.stringify(evidence)}`)
      uses.set(row[0], (uses.get(row[0]) ?? 0) + 1)
      const { verdict } = judge(evidence)
      if (verdict !== row[2]) throw new Error(`Row ${row[0]} says ${row[2]}, judge says ${verdict}: ${JSON.stringify(evidence)}`)
    }
    // Every row decides something, and together they decide all.
    expect([...uses.keys()].sort((a, b) => a - b)).toEqual(table.map(([row]) => row))
    expect([...uses.values()].reduce((sum, count) => sum + count)).toBe(
      Object.values(values).reduce((product, { length }) => product * length, 1),
    )
  })

  test('tells one that says it is another instance from one that says too little', () => {
    const other = everything.find((evidence) => judge(evidence).reason === 'it says that it is another instance') as Evidence
    expect(other.statement).toBe('another instance')
    expect(judge({ ...other, statement: 'malformed' }).reason).toBe('what it says of itself is incomplete')
  })

  test('says what is known of the process of one that did not prove itself, and how it was silent', () => {
    const unproven = everything.filter((evidence) => ['unproven', 'unreachable'].includes(judge(evidence).verdict))
    for (const evidence of unproven.filter(({ answer }) => answer !== 'authentic')) {
      const { reason } = judge(evidence)
      expect(reason.endsWith(', and its process is alive')).toBe(evidence.recorded === 'alive')
      expect(reason.startsWith('it closes every connection')).toBe(evidence.answer === 'closed')
    }
  })

  test('gives each verdict a reason in words', () => {
    const reasons = new Set(everything.map((evidence) => judge(evidence).reason))
    for (const reason of reasons) expect(reason).toMatch(/^[a-z].{8,}[^.]$/)
  })
})

describe('owned', () => {
  const owned = everything.filter((evidence) => judge(evidence).verdict === 'owned')

  test('takes the live process itself, for the very path that was captured', () => {
    for (const { answer, isPathEqual, role, statement, unreadable } of owned) {
      expect({ answer, isPathEqual, role, statement, unreadable }).toEqual({
        answer: 'authentic',
        isPathEqual: true,
        role: null,
        statement: 'complete',
        unreadable: null,
      })
    }
  })

  test('takes birth in the scope, by its own word or by the kernel', () => {
    expect(owned.length).toBeGreaterThan(0)
    for (const { born, isInScope, namespace } of owned) expect(namespace === null ? born === 'environment' : isInScope).toBe(true)
  })

  test('is nobody who was there before the run', () => {
    expect(owned.some(({ isOlderThanRun }) => isOlderThanRun)).toBe(false)
  })
})

/** Made once for each row: there are two hundred thousand combinations. */
function conditionsOf(row: Row): ((evidence: Evidence) => boolean)[] {
  return Object.entries(row).map(([key, wanted]) => {
    const values: ReadonlySet<unknown> = new Set([wanted].flat())
    return (evidence) => values.has(evidence[key as keyof Row])
  })
}

function everyEvidence(): readonly Evidence[] {
  let all: Record<string, unknown>[] = [{ ...context }]
  for (const [key, each] of Object.entries(values))
    all = all.flatMap((evidence) => each.map((value) => ({ ...evidence, [key]: value })))
  return all as unknown as Evidence[]
}
