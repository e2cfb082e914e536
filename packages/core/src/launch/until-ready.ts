import { clock, Deadline } from '@custody/runtime/internals'
import type { Ready } from '../options/start-spec.js'
import { readBorn } from '../provenance/own-processes.js'
import type { ExitNotice, Spawned, SpawnRequest } from '../supervisor/protocol.js'
import { birthmarkOf } from '../tree/birthmark.js'
import { fileIdOf, holdsFile } from '../tree/file-id.js'
import { endedBy } from './ended-by.js'
import { LogFile } from './log-file.js'
import { ownsPort } from './owner-of-port.js'
import { LOOPBACK } from './probes/connect.js'
import { describeReady, probeOf } from './probes/index.js'
import type { ProbeContext } from './probes/probe.js'

/** What came of waiting for a runtime. */
export interface Watch {
  /** Why it did not become ready, or null. */
  readonly problem: string | null
  /** What broke a probe, where that is the problem. */
  readonly cause?: unknown
  readonly match: RegExpMatchArray | null
  /** The loopback address that answered on its ports. */
  readonly host: string
  /** What each condition has seen last. */
  readonly observed: readonly string[]
  readonly exit: ExitNotice | null
}

export interface WatchOptions {
  readonly conditions: readonly Ready[]
  readonly readyMs: number
  /** Whether an exit with 0 is what is expected of the first process. */
  readonly daemonizes: boolean
  /** Whether it may exit by itself: what it has done by then may be all that its conditions ask for. */
  readonly mayExit: boolean
  /** Aborts when its scope ends. */
  readonly signal: AbortSignal
  readonly exit: Promise<ExitNotice>
}

/** What the probes of a runtime have in common. */
export type Surroundings = Omit<ProbeContext, 'note' | 'matched' | 'answered' | 'signal' | 'ended'>

/** Waits until all conditions hold, or there is no use in waiting. */
export async function untilReady(surroundings: Surroundings, options: WatchOptions): Promise<Watch> {
  const { conditions, daemonizes, exit, mayExit, readyMs, signal } = options
  const over = new AbortController()
  const ended = new AbortController()
  const observed = conditions.map(() => '')
  let match: RegExpMatchArray | null = null
  let host = surroundings.hosts[0] as string
  // What one throws at once is its failure too.
  const probes = conditions.map(async (condition, at) =>
    probeOf(condition)({
      ...surroundings,
      signal: over.signal,
      ended: ended.signal,
      note: (text) => {
        // What a probe sees while it is cut short says less than what it has seen before.
        if (!over.signal.aborted || observed[at] === '') observed[at] = `${describeReady(condition)}: ${text}`
      },
      matched: (found) => {
        match = found
      },
      answered: (by) => {
        host = by
      },
    }),
  )
  const begun = clock.now()
  // A command that daemonizes leaves with 0 when its daemon is there.
  const launched = daemonizes ? exit.then((notice) => notice.exit.code === 0) : true
  const hasExited = (): Promise<Outcome> => exit.then((notice) => ({ problem: 'it has exited', exit: notice }))
  const limit = new Promise<Outcome>((resolve) => {
    const endEarly = () =>
      resolve({ problem: `its ${endedBy(signal)} ended while it was not ready, after ${Math.round(clock.now() - begun)} ms` })
    signal.addEventListener('abort', endEarly)
    if (signal.aborted) endEarly()
    const cancel = Deadline.after(readyMs).onPassed(() => resolve({ problem: `it was not ready after ${readyMs} ms` }))
    over.signal.addEventListener('abort', () => {
      cancel()
      signal.removeEventListener('abort', endEarly)
      // Nobody waits for it any more, and one that never settles would be taken for a leak.
      resolve({ problem: null })
    })
  })
  const first = Promise.race<Outcome>([
    Promise.all([launched, ...probes]).then(
      (held): Outcome | Promise<Outcome> => (held.every(Boolean) ? { problem: null } : hasExited()),
      (cause: unknown) => ({ problem: `a probe failed: ${firstSentence((cause as Error).message)}`, cause }),
    ),
    exit.then(({ exit: { code } }) => {
      if (daemonizes && code === 0) return limit
      if (!mayExit) return hasExited()
      ended.abort()
      return limit
    }),
    limit,
  ])
  // Also when the connection ends meanwhile, by which the exit would be told.
  const outcome = await first.finally(() => over.abort())
  // Some say only now why they did not hold.
  await Promise.allSettled(probes)
  return { exit: null, ...outcome, match, host, observed: observed.filter(Boolean) }
}

/** Without its own hint, to stand in another message. */
function firstSentence(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/\.$/, '')
}

interface Outcome {
  problem: string | null
  exit?: ExitNotice
  cause?: unknown
}

/** What the probes of a started runtime look at. */
export function surroundingsOf(
  request: SpawnRequest,
  { identity, logs }: Spawned,
  ports: Readonly<Record<string, number>>,
): Surroundings {
  const mark = birthmarkOf(request.id, [logs.stdout, logs.stderr].map(fileIdOf), identity)
  const [first] = Object.values(ports)
  return {
    ports,
    url: first === undefined ? null : `http://127.0.0.1:${first}`,
    hosts: LOOPBACK,
    cwd: request.cwd,
    env: request.env,
    logs: { stdout: new LogFile(logs.stdout), stderr: new LogFile(logs.stderr) },
    ownsPort: (port) => ownsPort(port, mark, identity),
    owns: (pid) => pid === identity.pid || readBorn(pid, request.id) === 'environment' || holdsFile(pid, mark.files),
  }
}
