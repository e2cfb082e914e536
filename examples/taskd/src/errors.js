/**
 * A refusal that a user can meet.
 * @typedef {{ code: string, message?: string, hint?: string, [fact: string]: unknown }} Envelope
 */

export class TaskdError extends Error {
  /**
   * @param {Envelope} envelope what goes over the wire and to `--json`, whole and unchanged
   * @param {ErrorOptions} [options]
   */
  constructor(envelope, options) {
    super(envelope.message ?? envelope.code, options)
    this.name = 'TaskdError'
    this.envelope = envelope
  }

  get code() {
    return this.envelope.code
  }
}

/** @param {unknown} error @param {...string} codes */
export function hasCode(error, ...codes) {
  return error instanceof Error && codes.includes(/** @type {{ code?: any }} */ (error).code)
}
