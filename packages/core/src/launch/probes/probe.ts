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
  /** What was seen last, for the message of a probe that never held. */
  note(observed: string): void
  /** Which of its addresses answered on a port of its own. */
  answered(host: string): void
  /** What a log line said. */
  matched(match: RegExpMatchArray): void
}

/** Waits until something holds. Resolves as well when the signal aborts: whether it held is then of no interest. */
export type Probe = (context: ProbeContext) => Promise<void>

/** Longest pause between two looks, in milliseconds. A look of 0.3 ms then takes less than 2 % of a core. */
const MAX_PAUSE_MS = 20

/** Looks again and again, often at first, until it holds. */
export async function retry(signal: AbortSignal, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let waitMs = 1; !signal.aborted; waitMs = Math.min(waitMs * 1.6, MAX_PAUSE_MS)) {
    if (await holds()) return
    await rest(waitMs, signal)
  }
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
