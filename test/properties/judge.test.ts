import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Evidence } from '../../packages/core/src/provenance/evidence.js'
import { judge } from '../../packages/core/src/provenance/judge.js'
import { identities, namespaceIds } from './arbitraries.js'
import { check } from './check.js'

const owned: Evidence = {
  source: 'registry',
  path: '/run/a.json',
  unreadable: null,
  scope: 'a'.repeat(32),
  role: null,
  isOlderThanRun: false,
  answer: 'authentic',
  statement: 'complete',
  namespace: `${'a'.repeat(32)}.f1`,
  isInScope: true,
  frozenPath: '/run/a.json',
  isPathEqual: true,
  recorded: 'alive',
  born: 'environment',
  isSeenAlive: true,
  identity: null,
}

const fields: { [K in keyof Evidence]: fc.Arbitrary<Evidence[K]> } = {
  source: fc.constantFrom('registry', 'glob'),
  path: fc.string(),
  unreadable: fc.option(fc.string()),
  scope: namespaceIds,
  role: fc.option(fc.constantFrom('this process', 'an ancestor', 'the runner', 'a worker')),
  isOlderThanRun: fc.boolean(),
  answer: fc.option(fc.constantFrom('authentic', 'false', 'garbage', 'closed', 'none')),
  statement: fc.option(fc.constantFrom('complete', 'malformed', 'another instance')),
  namespace: fc.option(namespaceIds),
  isInScope: fc.boolean(),
  frozenPath: fc.option(fc.string()),
  isPathEqual: fc.boolean(),
  recorded: fc.constantFrom('alive', 'gone', 'other boot', 'unknowable'),
  born: fc.constantFrom('environment', 'no', 'unreadable'),
  isSeenAlive: fc.boolean(),
  identity: fc.option(identities),
}

/** Evidence near to that of an own runtime: of arbitrary evidence hardly any would be. */
const evidences = fc
  .record(fields, { requiredKeys: [] })
  .map((changes) => ({ ...owned, ...Object.fromEntries(Object.entries(changes).slice(0, 4)) }) as Evidence)

/** All that it takes, written without a look at the decision table. */
const isProven = (evidence: Evidence) =>
  evidence.unreadable === null &&
  evidence.role === null &&
  !evidence.isOlderThanRun &&
  evidence.answer === 'authentic' &&
  evidence.statement === 'complete' &&
  evidence.isPathEqual &&
  (evidence.namespace === null ? evidence.born === 'environment' : evidence.isInScope)

test('nobody is owned without all proofs, and everybody with them, whatever else is said', async () => {
  const seen = { owned: 0, others: 0 }
  await check(
    fc.property(fc.oneof(evidences, fc.record(fields)), (evidence) => {
      const { verdict } = judge(evidence)
      seen[verdict === 'owned' ? 'owned' : 'others']++
      return (verdict === 'owned') === isProven(evidence)
    }),
    5_000,
  )
  expect(Math.min(seen.owned, seen.others)).toBeGreaterThan(100)
})
