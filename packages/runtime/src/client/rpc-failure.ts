/** A refusal that came over an authenticated session. */
export class RpcFailure extends Error {
  readonly error: { code?: unknown; message?: unknown; data?: unknown }

  constructor(error: Record<string, unknown>) {
    super(String(error['message'] ?? 'refused'))
    this.name = 'RpcFailure'
    this.error = error
  }
}

/** Whether an error is such a refusal, from whichever copy of this package. */
export function isRpcFailure(error: unknown): error is RpcFailure {
  return error instanceof Error && error.name === 'RpcFailure'
}
