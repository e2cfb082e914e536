import type { Custody } from '@custody/core/worker'
import type { TestAPI } from 'vitest'
import { custodyTest } from './custody-test.js'

export {
  type Custody,
  CustodyError,
  custody,
  type Definition,
  defineRuntime,
  type ExecOptions,
  type ExecResult,
  type Inspection,
  type LeakPolicy,
  type Namespace,
  type OpenedNamespace,
  type Ready,
  type Receipt,
  type Runtime,
  type Shared,
  type StartSpec,
  type StartWidth,
  type TestAllowance,
  type Verdict,
} from '@custody/core/worker'

/**
 * Vitest's `test` with the fixture `custody`: the scope of the test. It extends as always.
 * @throws CUSTODY_NOT_SET_UP when it is used outside of a test file under Custody
 */
export const test: TestAPI<{ custody: Custody }> = custodyTest()
