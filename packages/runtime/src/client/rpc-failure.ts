/** A refusal that came over an authenticated session. */
export class RpcFailure extends Error {
  readonly error: { code?: unknown; message?: unknown; data?: unknown }

  constructor(error: Record<string, unknown>) {
    super(String(error['message'] ?? 'refused'))
    this.name = 'RpcFailure'
    this.error = error
  }
}
