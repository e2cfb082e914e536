import { CustodyError, type RunHandle, warn } from '@custody/core/worker'

/** What Vitest has put on its runner by the time that the first file is collected. */
export interface SeenHooks {
  readonly onTaskUpdate: boolean
  readonly onAfterRunTask: boolean
}

const known: Readonly<Record<keyof SeenHooks, string>> = {
  onTaskUpdate: 'what tests leave is told at their files',
  onAfterRunTask: 'tests are settled with their files, and do not count for bail',
}

export function isKnown(seen: SeenHooks): boolean {
  return seen.onTaskUpdate && seen.onAfterRunTask
}

/**
 * Looks whether this Vitest is one of those that Custody knows. Without a hook custody is kept all the same, more coarsely.
 * @throws CUSTODY_RUNNER_UNKNOWN where the options are strict
 */
export async function checkHooks(seen: SeenHooks, run: RunHandle): Promise<void> {
  const missing = (Object.keys(known) as (keyof SeenHooks)[]).filter((name) => !seen[name])
  if (missing.length === 0) return
  const observed = missing.map((name) => `it does not use ${name} of its runner as known, so ${known[name]}`).join('; ')
  const error = new CustodyError('CUSTODY_RUNNER_UNKNOWN', `Could not hook into this Vitest as into others: ${observed}.`, {
    hint: 'see docs/compatibility.md for the versions that are tested.',
    facts: { missing },
  })
  await tellUnknown(error, run)
}

/**
 * Says at the end of the run that custody is kept more coarsely.
 * @throws the error where the options are strict
 */
export async function tellUnknown(error: CustodyError, run: RunHandle): Promise<void> {
  if (run.options.strict) throw error
  await warn(run, error.message.split('\n')[0] ?? '')
}
