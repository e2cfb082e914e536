import { CustodyError, isCustodyError } from '@custody/runtime/internals'
import { receiptOf } from '../launch/receipt-of.js'
import { notStopped, STOP_MARGIN_MS } from '../launch/started-runtime.js'
import type { ResolvedOptions } from '../options/options.js'
import type { RunEvent } from '../report/events.js'
import { leadTo } from '../report/stack-of-site.js'
import { grouped } from '../report/words.js'
import { isLoss, type SupervisorLink } from '../supervisor/link.js'
import type { Ended } from '../supervisor/protocol.js'
import type { Use } from './holdings.js'
import type { Scope } from './scope.js'
import { teardownFailed } from './teardown-failed.js'

/** What became of the started runtimes of a scope. */
export interface StartedSettlement {
  readonly events: readonly RunEvent[]
  readonly failures: readonly CustodyError[]
  /** Those that have ended, by their ids. */
  readonly ended: readonly string[]
}

/** Ends what a scope has started, and looks whether what it used was there all the time. */
export async function settleStarted(scope: Scope): Promise<StartedSettlement> {
  const unready = await endStarts(scope)
  if (scope.uses.size === 0) return { events: [], failures: unready, ended: [] }
  try {
    const link = await scope.lease()
    // At worst each needs the one before.
    const graceMs = [...scope.uses.values()].reduce((sum, use) => sum + use.graceMs, 0)
    const all = await link.call<Ended[]>('settle', { scope: scope.id }, graceMs + STOP_MARGIN_MS)
    const exits = unexpectedExits(scope, link, all)
    const settled = settleEnded(all, scope.run.options, scope.kind === 'file' ? null : scope.name, scope.uses)
    const { ended } = settled
    return { events: [...exits.events, ...settled.events], failures: [...unready, ...exits.failures, ...settled.failures], ended }
  } catch (cause) {
    if (!isLoss(cause)) throw cause
    return { events: [], failures: [...unready, supervisorLost(scope, cause)], ended: [] }
  }
}

/** Ends the starts that are under way. The runner's own limit has cut their test or hook short: their error says what they were waiting for. */
async function endStarts({ isCancelled, kind, name, opener, starting }: Scope): Promise<CustodyError[]> {
  const isOfFile = kind === 'file' || opener?.kind === 'file'
  const ended = [...starting].map(async ([controller, start]) => {
    controller.abort(isOfFile ? 'file' : 'test')
    return start.then(
      () => null,
      (error: unknown) => error,
    )
  })
  const errors = (await Promise.all(ended)).filter((error) => error !== null && !isCancelled)
  return errors.map((error) => (isCustodyError(error) ? error : teardownFailed({ name }, 'settle', error)))
}

/** Receipts of ended runtimes, and what is wrong with them. */
export function settleEnded(
  all: readonly Ended[],
  options: ResolvedOptions,
  test: string | null,
  uses: ReadonlyMap<string, Use> = new Map(),
): StartedSettlement {
  const events: RunEvent[] = []
  const failures: CustodyError[] = []
  for (const ended of all) {
    events.push({ type: 'receipt', receipt: receiptOf(ended, test), instance: ended.id })
    const error = ended.left.length > 0 ? notStopped(ended.name, ended) : ended.forced ? forced(ended, test) : null
    if (error === null) continue
    leadTo(uses.get(ended.id)?.site, error)
    apply(ended.left.length > 0 ? 'fail' : options.forced, error, events, failures)
  }
  return { events, failures, ended: all.filter(({ left }) => left.length === 0).map(({ id }) => id) }
}

/** What it started itself was judged by its parent at the stop; of what it shares a notice has come, or nothing has happened. */
function unexpectedExits(
  scope: Scope,
  link: SupervisorLink,
  all: readonly Ended[],
): Pick<StartedSettlement, 'events' | 'failures'> {
  const events: RunEvent[] = []
  const failures: CustodyError[] = []
  for (const [id, use] of scope.uses) {
    const notice = all.find((ended) => ended.id === id) ?? link.peekExit(id)
    const error = exitedUnexpectedly(use, notice, scope.name)
    if (error === null) continue
    leadTo(use.site, error)
    apply(scope.run.options.unexpectedExit, error, events, failures)
  }
  return { events, failures }
}

/**
 * What is wrong with an exit, or null: nobody has asked for it.
 * @param keeper who used the runtime, for people
 */
export function exitedUnexpectedly(
  { hasDaemonized, name, onExit, tail }: Pick<Use, 'hasDaemonized' | 'name' | 'tail'> & Partial<Pick<Use, 'onExit'>>,
  notice: Pick<Ended, 'exit' | 'expected'> | null,
  keeper: string,
): CustodyError | null {
  if (notice === null || notice.exit === null || notice.expected || onExit === 'ignore') return null
  const { code, signal } = notice.exit
  // The command has done its work; what it left behind is the runtime.
  if (hasDaemonized && code === 0) return null
  const isDaemon = code === null && signal === null
  const how = isDaemon ? 'its daemon exited' : signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`
  return new CustodyError(
    'CUSTODY_RUNTIME_EXITED',
    `Could not keep runtime "${name}" for ${keeper}: ${how}, and nobody had asked it to.\n${tail() || '  (no output)'}`,
    {
      hint: "see its last lines above; onExit: 'ignore' is for one that may leave by itself.",
      facts: { name, code, signal },
    },
  )
}

/** What a finding comes to by the user's policy: a failure, a warning, or nothing. */
export function apply(
  policy: 'fail' | 'warn' | 'ignore',
  error: CustodyError,
  events: RunEvent[],
  failures: CustodyError[],
): void {
  if (policy === 'fail') failures.push(error)
  if (policy === 'warn') events.push({ type: 'warning', text: error.message.split('\n')[0] ?? '' })
}

function forced({ name, signals, tookMs }: Ended, test: string | null): CustodyError {
  const whose = test === null ? '' : ` (${test})`
  const observed = `it did not obey ${signals[0]}, and ended by SIGKILL after ${grouped(tookMs)} ms${whose}`
  return new CustodyError('CUSTODY_RUNTIME_FORCED', `Could not stop runtime "${name}" politely: ${observed}.`, {
    hint: 'have it obey its stop signal, or raise graceMs.',
    facts: { name, signals, tookMs },
  })
}

function supervisorLost({ name, uses }: Scope, cause: unknown): CustodyError {
  const error = new CustodyError(
    'CUSTODY_SUPERVISOR_LOST',
    `Could not end what ${name} had started: the supervisor of this run is gone.`,
    {
      hint: 'the end of the run says why; what it had started is ended then.',
      facts: { scope: name },
      cause,
    },
  )
  leadTo([...uses.values()][0]?.site, error)
  return error
}
