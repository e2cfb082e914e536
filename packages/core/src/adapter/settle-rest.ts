import type { Identity } from '@custody/runtime'
import { CustodyError, clock, Deadline, isSameIdentity } from '@custody/runtime/internals'
import { isAlive } from '../leaks/wait-for-exits.js'
import { captureRegistry } from '../locators/capture.js'
import { isOfRuntime, type NamespaceId } from '../namespace/namespace-id.js'
import { blindnessWarnings } from '../report/blindness-warnings.js'
import { type FoundLeak, type RunEvent, readEvents, writeEvents } from '../report/events.js'
import { toldLeak } from '../report/leak-events.js'
import { notEnded } from '../report/not-ended.js'
import type { RunHandle } from '../scope/run-handle.js'
import { accountFor, applyPolicy, settleLocators } from '../scope/settle-locators.js'
import { settleEnded } from '../scope/settle-started.js'
import { teardownFailed } from '../scope/teardown-failed.js'
import { timeLimits } from '../scope/time-limits.js'
import type { RunSupervisor } from '../supervisor/run-supervisor.js'
import { markOfFamilies } from '../tree/birthmark.js'
import { withoutSecrets } from '../tree/without-secrets.js'
import { type GlobalSetups, isOfSetup } from './global-setups.js'
import { judgeLate } from './judge-late.js'

/** What the end of all files has come to. */
export interface RestSettlement {
  readonly failures: readonly CustodyError[]
  /** How many helpers of workers that still live go on. */
  readonly going: number
}

/** Ends what was for the whole run, and what a file could not: its worker may have died before. */
export async function settleRest(
  run: RunHandle,
  supervisor: RunSupervisor,
  setups: GlobalSetups,
  isRerunNext: boolean,
): Promise<RestSettlement> {
  const started = settleEnded(await supervisor.settle(isRerunNext), run.options, null)
  writeEvents(run.directory, started.events)
  const loss = await supervisor.findLoss()
  // What runs inside of a started runtime ends with that, and what global setups have started is still theirs.
  const published = await settlePublished(run, 'the run', (id) => !isOfRuntime(id) && !isOfSetup(run.id, id))
  const events = [...published.events]
  events.push(...leaksOfPending(readEvents(run.directory), await supervisor.takeOutlived()))
  const late = await judgeLate(run, readEvents(run.directory))
  events.push(...late.events)
  const helpers = late.going.map(({ identity }) => identity)
  const except = [setups.mark, helpers.length === 0 ? null : markOfFamilies(helpers)]
  const swept = await supervisor.sweep(except.filter((mark) => mark !== null))
  // A run in which nothing was started has no use for more than Node.
  const reached = events.length + swept.length + readEvents(run.directory).length > 0 ? await supervisor.means() : null
  if (reached !== null) events.push({ type: 'level', ...reached }, ...blindnessWarnings())
  events.push(
    ...swept.map(({ command, identity }) => ({ type: 'swept', pid: identity.pid, command: withoutSecrets(command) }) as const),
  )
  writeEvents(run.directory, events)
  return {
    failures: [
      ...(loss === null ? [] : [supervisorLost(loss)]),
      ...started.failures,
      ...published.failures,
      ...late.failures,
      ...swept.filter(({ isAlive }) => isAlive).map(notEnded),
      ...takeFailures(supervisor),
    ],
    going: helpers.length,
  }
}

function takeFailures(supervisor: RunSupervisor): CustodyError[] {
  return supervisor.takeFaults().map((fault) => teardownFailed({ name: 'the run' }, 'settle', fault))
}

/** What files have noted and nobody has waited for is a leak if it has not exited in its time. */
function leaksOfPending(all: readonly RunEvent[], outlived: readonly Identity[] | null): RunEvent[] {
  const hasOutlived = ({ identity }: FoundLeak) =>
    outlived === null ? isAlive(identity) : outlived.some((each) => isSameIdentity(each, identity))
  return all
    .filter((event) => event.type === 'pending')
    .filter(hasOutlived)
    .flatMap(toldLeak)
}

/** Retires what was published in the run and has not been accounted for by anybody else. */
async function settlePublished(
  run: RunHandle,
  name: string,
  isMeant: (namespace: NamespaceId) => boolean,
): Promise<{ events: RunEvent[]; failures: CustodyError[] }> {
  const accounted = new Set<string>()
  for (const event of readEvents(run.directory)) {
    if (event.type === 'receipt') accountFor(event.receipt, event.instance, accounted)
  }
  const starter = { kind: 'run', name, sites: [] }
  const settler = { id: run.id, starterOf: () => starter, run, accounted }
  const locators = () => captureRegistry(run.directory, run.id).filter(({ namespace }) => isMeant(namespace))
  const look = () => ({ locators: locators(), cutShort: [] })
  const time = { begunAt: clock.now(), deadline: Deadline.after(timeLimits(run.options).teardownMs) }
  const { faults, findings } = await settleLocators(settler, null, look, time)
  const { events, failures } = applyPolicy(findings, run.options)
  return { events, failures: [...failures, ...faults.map((fault) => teardownFailed(starter, 'settle', fault))] }
}

/** What the last look at a run has come to. */
export interface LastSettlement {
  readonly failures: readonly CustodyError[]
  /** Whether helpers of this process go on, which end after it. */
  readonly isLingering: boolean
}

/** Judges what global setups have left when they were torn down, and helpers whose workers have ended since. */
export async function settleLast(run: RunHandle, supervisor: RunSupervisor, setups: GlobalSetups): Promise<LastSettlement> {
  const published = await settlePublished(run, 'the global setup', (id) => isOfSetup(run.id, id))
  const late = await judgeLate(run, readEvents(run.directory))
  const { ending, events, failures } = await setups.judge()
  writeEvents(run.directory, [...published.events, ...late.events, ...events])
  const ended = ending.length === 0 ? [] : await supervisor.endLeft(setups.namespace, ending, setups.helpers)
  const unended = ended.filter(({ isAlive }) => isAlive).map(notEnded)
  const all = [...published.failures, ...late.failures, ...failures, ...unended, ...takeFailures(supervisor)]
  return { failures: all, isLingering: late.going.length > 0 || setups.helpers.length > 0 }
}

function supervisorLost(loss: string): CustodyError {
  return new CustodyError(
    'CUSTODY_SUPERVISOR_LOST',
    `Could not keep custody to the end of this run: the supervisor is gone: ${loss}.`,
    {
      hint: 'what it had started was ended by the runner; see who ended the supervisor.',
      facts: { loss },
    },
  )
}
