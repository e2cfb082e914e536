type Environment = Readonly<Record<string, string | undefined>>

let given: Environment | null = null

/** The environment of whoever calls now, as it is now: this realm's, or that of the caller's own. */
export function callersEnv(): Environment {
  return { ...(given ?? process.env) }
}

/** Makes a call for code of another realm, whose `process.env` is a copy. It holds until the call's first wait. */
export function withCallersEnv<T>(env: Environment | null, call: () => T): T {
  const before = given
  given = env
  try {
    return call()
  } finally {
    given = before
  }
}
