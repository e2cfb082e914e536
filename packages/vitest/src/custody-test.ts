import { type Custody, CustodyError, custody } from '@custody/core/worker'
import type { TestAPI } from 'vitest'

const SLOT: unique symbol = Symbol.for('@custody/vitest/test.1')

type Holder = Record<typeof SLOT, TestAPI | undefined>

/** Tells where Vitest's own `test` is: who imports this package elsewhere, as in a global setup, must not load Vitest. */
export function offerTest(test: TestAPI): void {
  ;(process as unknown as Holder)[SLOT] = test
}

/** Vitest's `test` with the fixture `custody`; outside of a test file under Custody one that says so when it is used. */
export function custodyTest(): TestAPI<{ custody: Custody }> {
  const test = (process as unknown as Holder)[SLOT]
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which fixtures it asks for
  if (test !== undefined) return test.extend<{ custody: Custody }>({ custody: ({}, use) => use(custody) })
  return new Proxy(() => {}, { get: refuse, apply: refuse }) as unknown as TestAPI<{ custody: Custody }>
}

function refuse(): never {
  throw new CustodyError('CUSTODY_NOT_SET_UP', 'Could not define a test: no test file runs here under Custody.', {
    hint: "add custodyPlugin() from '@custody/vitest/plugin' to the configuration of this project, and call it from a test file.",
  })
}
