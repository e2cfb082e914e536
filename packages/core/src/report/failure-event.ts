import type { CustodyError } from '@custody/runtime/errors'
import type { FailureEvent } from './events.js'

/** @param of whose the failure is: a test, a file, or null for the run */
export function failureEvent(
  { code, message, name, stack }: CustodyError,
  of: { path: string; title: string } | null,
): FailureEvent {
  return {
    type: 'failure',
    file: of?.path ?? null,
    test: of?.title || null,
    code,
    message,
    stack: stack ?? `${name}: ${message}`,
  }
}
