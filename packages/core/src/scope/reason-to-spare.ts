import type { Left } from '../leaks/find-left.js'
import { findAllowance } from '../tree/allowance.js'
import { isCommonHelper, isEndingHelper } from '../tree/common-helpers.js'
import type { Scope } from './scope.js'

/** Why something that was left is no leak. */
export interface Spared {
  readonly reason: string
  /** Whether it is expected to exit soon. */
  readonly isAwaited: boolean
  /** Whether it ends with the run. */
  readonly isEnded: boolean
}

/** Null when it is a leak. @param starter the test or file that has left it */
export function reasonToSpare({ command }: Left, { allowances, file, run }: Scope): Spared | null {
  const { allow, commonHelpers } = run.options
  const allowance = findAllowance(command, [...allowances, ...(file?.allowances ?? []), ...allow])
  if (allowance !== null) {
    const { reason, until } = allowance
    return { reason, isAwaited: until === 'scope', isEnded: until === 'run' }
  }
  if (!commonHelpers || !isCommonHelper(command)) return null
  return { reason: 'a common helper', isAwaited: isEndingHelper(command), isEnded: false }
}
