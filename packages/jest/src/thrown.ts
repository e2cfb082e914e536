// What users' code has thrown may be anything.

import { withoutOurFrames } from '@custody/core/worker'

/** Jest prints every frame of an error; those of the wrappers around bodies and hooks help nobody. */
export function hideOurFrames(errors: readonly unknown[]): void {
  for (const error of errors.flat()) {
    try {
      const { stack } = (error ?? {}) as { stack?: unknown }
      // Of a frozen error, or one that only tells its stack, Jest prints it as it is.
      if (typeof stack === 'string') Reflect.set(error as Error, 'stack', withoutOurFrames(stack))
    } catch {
      // What a user's own getter throws here is no news: Jest reads the stack itself.
    }
  }
}

/** The messages of a test's own errors. */
export function messagesOf(errors: readonly unknown[]): string[] {
  const messages = errors.flat().map((error) => (error as { message?: unknown } | null | undefined)?.message)
  return messages.filter((message) => typeof message === 'string')
}

/** Whether a limit of time has cut a body or a hook short, so that it may go on: Jest fails it with a text. */
export function isTimeout(error: unknown): boolean {
  return typeof error === 'string' && error.startsWith('Exceeded timeout of ')
}
