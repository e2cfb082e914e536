import { CustodyError } from '@custody/runtime/errors'
import type { Scope } from './scope.js'

/** @throws CUSTODY_SCOPE_ENDED */
export function assertOpen(scope: Scope, verb: string): Scope {
  if (!scope.isOver) return scope
  throw new CustodyError('CUSTODY_SCOPE_ENDED', `Could not ${verb} in ${scope.name}: it has ended.`, {
    hint: 'await everything that a test starts before it ends.',
    facts: { scope: scope.name },
  })
}
