import type { Custody } from '@custody/core/worker'
import type { TestAPI } from 'vitest'
import { custodyTest } from './custody-test.js'

export type { Allowance, CustodyOptions, LeakOverride, Policy } from '@custody/core'
export {
  type Custody,
  CustodyError,
  custody,
  type Definition,
  type DefinitionContext,
  defineRuntime,
  type ExecOptions,
  type ExecResult,
  type Inspection,
  type LeakPolicy,
  type Logs,
  type Namespace,
  type OpenedNamespace,
  type Ready,
  type Receipt,
  type Runtime,
  type RuntimeExit,
  type RuntimeLog,
  type ScopeMembers,
  type Shared,
  type StartContext,
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
