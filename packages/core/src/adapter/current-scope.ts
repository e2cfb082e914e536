import { CustodyError } from '@custody/runtime/errors'
import { currentCell } from '../namespace/cells.js'
import { assertOpen } from '../scope/assert-open.js'
import type { Scope } from '../scope/scope.js'

/**
 * The scope that runs now.
 * @throws CUSTODY_NOT_SET_UP outside of a run with Custody
 * @throws CUSTODY_SCOPE_ENDED in code that has outlived its test or file
 */
export function currentScope(verb: string): Scope {
  const scope = currentCell()?.birth.scope as Scope | null | undefined
  if (scope == null) {
    throw new CustodyError('CUSTODY_NOT_SET_UP', `Could not ${verb}: no test or file runs here under Custody.`, {
      hint: 'add the plugin (Vitest) or withCustody (Jest) to the configuration of this project, and call it from a test file.',
    })
  }
  return assertOpen(scope, verb)
}
