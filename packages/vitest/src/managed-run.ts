import { openRun, printRunEnd, type Run, type RunEnd } from '@custody/core'
import type { Vitest } from 'vitest/node'

/** The run of one Vitest instance. Its projects set it up one by one and share it. */
export interface ManagedRun {
  readonly run: Run
  /** Whether Vitest watches: then another run may follow. */
  readonly isWatching: boolean
  /** Whether everything so far is accounted for and printed. */
  isSettled: boolean
}

const slot = Symbol.for('@custody/vitest/runs.1')

/** Each project loads a copy of its own of the global setup; the runs stand on `process`, where all copies find them. */
function runs(): WeakMap<Vitest, Promise<ManagedRun>> {
  const shared = process as unknown as Record<symbol, WeakMap<Vitest, Promise<ManagedRun>> | undefined>
  shared[slot] ??= new WeakMap()
  return shared[slot]
}

/**
 * Opens the run of this Vitest instance, or joins it. It closes with Vitest, and not in the teardown of our global setup: Vitest tears down
 * those of the root before those of projects.
 */
export async function joinRun(vitest: Vitest, options: unknown): Promise<ManagedRun> {
  let opening = runs().get(vitest)
  if (opening === undefined) {
    opening = openRun(options, vitest.config.root).then((run) => {
      const managed: ManagedRun = { run, isWatching: vitest.config.watch, isSettled: true }
      const close = () => closeRun(vitest, managed)
      vitest.onClose(close)
      // Vitest 3 calls none of its hooks when a global teardown throws.
      const original = vitest.close
      vitest.close = () => original.call(vitest).finally(close)
      return managed
    })
    runs().set(vitest, opening)
    // In watch mode the configuration may be mended: then it is tried again.
    opening.catch(() => runs().delete(vitest))
  }
  return opening
}

/** Vitest calls it again for the run that follows a change of its configuration. */
async function closeRun(vitest: Vitest, managed: ManagedRun): Promise<void> {
  if ((await runs().get(vitest)) !== managed) return
  runs().delete(vitest)
  // What was kept for the next run ends now.
  if (managed.isWatching) managed.isSettled = false
  await settleRun(managed, { isLast: true })
  await say(() => managed.run.close({ isPartial: isPartial(vitest) }))
}

/** Whether this invocation leaves out tests of the suite. */
function isPartial(vitest: Vitest): boolean {
  const { bail, changed, project, related, shard, testNamePattern } = vitest.config
  // The types keep the filters of the command line to themselves.
  const { filenamePattern } = vitest as unknown as { filenamePattern?: string[] }
  const names = [filenamePattern, project, related].flat().filter((each) => each !== undefined)
  return Boolean(names.length > 0 || changed || shard || testNamePattern || bail)
}

/**
 * Accounts for what no file has, and says how the run went. To standard error: on standard output it would stand inside of what the JSON
 * reporter prints. By the exit code: an error that a hook throws here leaves Vitest 4 with code 0.
 */
export async function settleRun(
  managed: ManagedRun,
  { isLast, unmanaged = [] }: { readonly isLast: boolean; readonly unmanaged?: readonly string[] },
): Promise<void> {
  if (managed.isSettled) return
  managed.isSettled = true
  await say(() => managed.run.settle({ isRerunNext: managed.isWatching && !isLast, unmanaged }))
}

async function say(end: () => Promise<RunEnd>): Promise<void> {
  try {
    if (!printRunEnd(await end())) process.exitCode = 1
  } catch (error) {
    process.exitCode = 1
    console.error(error)
  }
}
