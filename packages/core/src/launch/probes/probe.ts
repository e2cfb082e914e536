import { clock } from '@custody/runtime/internals'
import type { LogFile } from '../log-file.js'

/** What a probe may look at. */
export interface ProbeContext {
  readonly ports: Readonly<Record<string, number>>
  /** Of its first port. */
  readonly url: string | null
  /** On which addresses it may answer. */
  readonly hosts: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly logs: { readonly stdout: LogFile; readonly stderr: LogFile }
  /** Whether who listens on a port was born of this runtime; null where the platform does not tell. */
  ownsPort(port: number): boolean | null
  /** Whether a live process was born of this runtime. */
  owns(pid: number): boolean
  /** Aborts when there is no use in going on: out of time, or the runtime has exited. */
  readonly signal: AbortSignal
  /** Aborts when a runtime has exited that may: one look more sees all that it has done. */
  readonly ended: AbortSignal
  /** What was seen last, for the message of a probe that never held. */
  note(observed: string): void
  /** Which of its addresses answered on a port of its own. */
  answered(host: string): void
  /** What a log line said. */
  matched(match: RegExpMatchArray): void
}

/** Waits until something holds. Resolves with whether it did, as both signals end the wait. */
export type Probe = (context: ProbeContext) => Promise<boolean>

/** Longest pause between two looks, in milliseconds. A look of 0.3 ms then takes less than 2 % of a core. */
const MAX_PAUSE_MS = 20

/** Looks again and again, often at first, until it holds. */
export async function retry(
  { ended, signal }: Pick<ProbeContext, 'ended' | 'signal'>,
  holds: () => Promise<boolean> | boolean,
): Promise<boolean> {
  for (let waitMs = 1; !signal.aborted; waitMs = Math.min(waitMs * 1.6, MAX_PAUSE_MS)) {
    const isLast = ended.aborted
    if (await holds()) return true
    if (isLast) return false
    await rest(waitMs, [signal, ended])
  }
  return false
}

function rest(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(done, ms)
    for (const signal of signals) signal.addEventListener('abort', done, { once: true })
    // Of one that has aborted already no event comes.
    if (signals.some(({ aborted }) => aborted)) done()
    function done(): void {
      clock.clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
