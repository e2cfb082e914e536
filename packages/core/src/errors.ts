import { CustodyError, runtimeErrorCodes } from '@custody/runtime/internals'

export { CustodyError }

/** Every error that a user can meet. Each has a heading in docs/errors.md; a test compares the two. */
export const errorCodes: readonly string[] = [
  ...runtimeErrorCodes,
  'CUSTODY_NOT_SET_UP',
  'CUSTODY_SCOPE_ENDED',
  'CUSTODY_NOT_OWNED',
  'CUSTODY_NAMESPACE_TAKEN',
  'CUSTODY_COMMAND_FAILED',
  'CUSTODY_COMMAND_NOT_STARTED',
  'CUSTODY_RUNTIME_LEFT',
  'CUSTODY_RUNTIME_UNPROVEN',
  'CUSTODY_RUNTIME_UNREACHABLE',
  'CUSTODY_REGISTRY_UNREADABLE',
  'CUSTODY_SHUTDOWN_UNANSWERED',
  'CUSTODY_EXIT_NOT_OBSERVED',
  'CUSTODY_EXIT_UNOBSERVABLE',
  'CUSTODY_TEARDOWN_FAILED',
  'CUSTODY_RUNNER_UNKNOWN',
]
