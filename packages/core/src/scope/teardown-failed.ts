import { CustodyError, isCustodyError } from '@custody/runtime/errors'

/** A fault of the teardown itself. */
export function teardownFailed({ name }: { readonly name: string }, verb: string, cause: unknown): CustodyError {
  if (isCustodyError(cause)) return cause
  const { message } = cause as Error
  return new CustodyError('CUSTODY_TEARDOWN_FAILED', `Could not ${verb} ${name}: ${message}`, {
    hint: 'this is a fault of the machine or of Custody; the cause says where.',
    facts: { scope: name },
    cause,
  })
}
