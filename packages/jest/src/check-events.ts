import { CustodyError, type RunHandle, warn } from '@custody/core/worker'

/** Events of jest-circus that Custody stands on, and what becomes of their tests without them. */
const known = {
  run_start: 'what tests start is taken for that of their file',
  test_done: 'tests are settled with their file',
} as const

export type KnownEvent = keyof typeof known

/**
 * Looks whether the runner of a file whose tests have run has told what jest-circus tells. Custody is kept all the same, more coarsely, which
 * the end of the run says.
 * @returns the error that it is where the options are strict
 */
export async function checkEvents(seen: ReadonlySet<KnownEvent>, run: RunHandle): Promise<CustodyError[]> {
  const missing = (Object.keys(known) as KnownEvent[]).filter((name) => !seen.has(name))
  if (missing.length === 0) return []
  const observed = missing.map((name) => `it tells no ${name}, so ${known[name]}`).join('; ')
  const error = new CustodyError('CUSTODY_RUNNER_UNKNOWN', `Could not hook into this runner as into jest-circus: ${observed}.`, {
    hint: 'see docs/compatibility.md for the versions that are tested.',
    facts: { missing },
  })
  if (run.options.strict) return [error]
  await warn(run, error.message.split('\n')[0] ?? '')
  return []
}
