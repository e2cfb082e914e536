import type { ResolvedOptions, TestAllowance } from '../options/options.js'
import { findAllowance } from '../tree/allowance.js'
import { isCommonHelper, isEndingHelper } from '../tree/common-helpers.js'

/** Why something that was left is no leak. */
export interface Allowed {
  readonly reason: string
  /** Whether it is expected to exit soon. */
  readonly isAwaited: boolean
  /** Whether it ends with the run. */
  readonly isEnded: boolean
}

/** Null when it is a leak. @param declared what those have declared who have left it */
export function reasonToAllow(
  command: readonly string[],
  declared: readonly TestAllowance[],
  { allow, commonHelpers }: ResolvedOptions,
): Allowed | null {
  const allowance = findAllowance(command, [...declared, ...allow])
  if (allowance !== null) {
    const { reason, until } = allowance
    const told = until === 'scope' ? `${reason}; it was expected to end by itself, and has not` : reason
    return { reason: told, isAwaited: until === 'scope', isEnded: until === 'run' }
  }
  if (!commonHelpers || !isCommonHelper(command)) return null
  return { reason: 'a common helper', isAwaited: isEndingHelper(command), isEnded: false }
}
