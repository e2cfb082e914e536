/** Every error of this package that a user can meet. Each has a heading in docs/errors.md. */
export const runtimeErrorCodes = [
  'CUSTODY_INVALID_OPTION',
  'CUSTODY_NOT_MAIN_THREAD',
  'CUSTODY_SOCKET_PATH_TOO_LONG',
  'CUSTODY_UNSAFE_DIRECTORY',
  'CUSTODY_PUBLICATION_FAILED',
  'CUSTODY_LOCATOR_MISSING',
  'CUSTODY_LOCATOR_INVALID',
  'CUSTODY_CONNECT_FAILED',
  'CUSTODY_CONNECTION_CLOSED',
  'CUSTODY_PROOF_FALSE',
  'CUSTODY_ANSWER_GARBAGE',
  'CUSTODY_ANSWER_TIMEOUT',
  'CUSTODY_NOT_OWNER',
] as const

/** What `code` of an error of this package can be. The meaning of each is in docs/errors.md, and does not change. */
export type RuntimeErrorCode = (typeof runtimeErrorCodes)[number]

/** What a `CustodyError` holds besides its code and what was observed. */
export interface CustodyErrorDetails {
  /** One thing to do now. */
  hint: string
  /** What the message says, as data. Never a token. */
  facts?: Readonly<Record<string, unknown>>
  /** The error that this one explains, as the system or a peer gave it. */
  cause?: unknown
}

/**
 * An error with a stable `code`. Recognise it by the code: `instanceof` fails between realms and between copies of this package.
 */
export class CustodyError<Code extends string = string> extends Error {
  readonly code: Code
  readonly hint: string
  readonly facts: Readonly<Record<string, unknown>>

  constructor(code: Code, observed: string, { hint, facts = {}, cause }: CustodyErrorDetails) {
    super(`${observed}\nHint: ${hint}`, cause === undefined ? undefined : { cause })
    this.name = 'CustodyError'
    this.code = code
    this.hint = hint
    this.facts = facts
  }
}

/** Whether a thrown value is a Custody error with this code, from whatever realm or copy it comes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return typeof error === 'object' && error !== null && codes.includes((error as { code?: unknown }).code as string)
}

/** Whether an error is one of Custody's, from whichever copy of it. */
export function isCustodyError(error: unknown): error is CustodyError {
  const { code, facts } = (error ?? {}) as Partial<CustodyError>
  return typeof code === 'string' && code.startsWith('CUSTODY_') && typeof facts === 'object'
}
