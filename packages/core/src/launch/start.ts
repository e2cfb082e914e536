import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Identity } from '@custody/runtime'
import { CustodyError, clock, Deadline, RpcFailure } from '@custody/runtime/internals'
import { platform } from '../platform/index.js'
import { readBorn } from '../provenance/own-processes.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { ExitNotice, Spawned, SpawnRequest } from '../supervisor/protocol.js'
import { birthmarkOf } from '../tree/birthmark.js'
import { fileIdOf } from '../tree/file-id.js'
import { findBornHere } from '../tree/find-born-here.js'
import { LogFile } from './log-file.js'
import { ownsPort } from './owner-of-port.js'
import { describeReady, probeOf } from './probes/index.js'
import { type Reservation, reservePorts } from './reserve-ports.js'
import { checkSpec, type Ready, type StartSpec } from './start-spec.js'
import { type Launched, type Runtime, runtimeOf, STOP_MARGIN_MS } from './started-runtime.js'

/** Where something is started, and what holds there. */
export interface StartPlace {
  /** The namespace that the runtime gets for itself. */
  readonly id: string
  /** What it ends with. */
  readonly scope: string
  readonly runDirectory: string
  /** Its own directory. */
  readonly dir: string
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly link: SupervisorLink
  readonly readyMs: number
  readonly graceMs: number
  /** Aborts when the scope ends before the runtime is ready. */
  readonly signal: AbortSignal
}

/**
 * Starts a runtime and waits until it is ready. Whatever goes wrong, everything that was started has been stopped before this rejects.
 *
 * @throws CUSTODY_INVALID_OPTION, CUSTODY_NO_PORT
 * @throws CUSTODY_START_FAILED with exit code and signal, the addresses tried, and the last lines of its output
 */
export async function start<P extends string>(spec: StartSpec<P>, place: StartPlace): Promise<Runtime<P>> {
  checkSpec(spec as StartSpec)
  for (let attempt = 1; ; attempt++) {
    const reservation = await reservePorts(spec.ports ?? [], dirname(place.runDirectory), place.link.locator)
    try {
      return await startOnce(spec, place, reservation, attempt)
    } catch (error) {
      reservation.release()
      // A stranger has taken one of its ports in the meantime: others will do.
      if (attempt > 1 || !(error instanceof CustodyError) || error.facts['isPortTaken'] !== true) throw error
    }
  }
}

async function startOnce<P extends string>(
  spec: StartSpec<P>,
  place: StartPlace,
  { ports, release }: Reservation<P>,
  attempt: number,
): Promise<Runtime<P>> {
  let launches = attempt - 1
  const launch = () => launchOnce(spec, place, ports, ++launches, release)
  return runtimeOf(await launch(), launch)
}

async function launchOnce<P extends string>(
  spec: StartSpec<P>,
  place: StartPlace,
  ports: Readonly<Record<P, number>>,
  launches: number,
  release: () => void,
): Promise<Launched<P>> {
  const { link } = place
  const id = launches === 1 ? place.id : `${place.id}x${launches}`
  const request = requestOf(spec, { ...place, id }, ports)
  const spawned = await spawn(request, link)
  const exit = link.exitOf(id)
  const watch = await untilReady(spec, request, spawned, ports, place, exit)
  if (watch.problem === null) {
    const identity = spec.daemonizes ? adopt(request, spawned) : spawned.identity
    return {
      ...{ id, name: spec.name, identity, match: watch.match, env: request.env, dir: place.dir },
      ...{ log: new LogFile(spawned.logs.stdout), graceMs: request.graceMs, link, exit, onStopped: release },
      ports: withPortsOf(ports, watch.match),
    }
  }
  await link.call('stop', { id }, request.graceMs + STOP_MARGIN_MS)
  throw startFailed(spec.name, request, spawned, watch)
}

function requestOf<P extends string>(spec: StartSpec<P>, place: StartPlace, ports: Readonly<Record<P, number>>): SpawnRequest {
  mkdirSync(place.dir, { recursive: true, mode: 0o700 })
  const given = { ports, dir: place.dir, namespace: place.id }
  const command = typeof spec.command === 'function' ? spec.command(given) : spec.command
  const argv = typeof command === 'string' ? (spec.shell ? [command] : command.trim().split(/\s+/)) : [...command]
  const [first] = Object.values<number>(ports)
  const env = {
    PYTHONUNBUFFERED: '1',
    ...place.env,
    ...Object.fromEntries(Object.entries<number>(ports).map(([name, port]) => [`${name.toUpperCase()}_PORT`, String(port)])),
    ...(first !== undefined && { PORT: String(first) }),
    ...spec.env,
    CUSTODY_NAMESPACE: `${place.id}:${place.runDirectory}`,
  }
  return {
    id: place.id,
    scope: place.scope,
    name: spec.name,
    argv: argv as [string, ...string[]],
    shell: spec.shell ?? false,
    cwd: spec.cwd ?? place.root,
    env: Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    areStreamsApart: [spec.ready ?? []].flat().some((ready) => 'log' in ready && ready.stream !== undefined),
    stopSignal: spec.stopSignal ?? 'SIGTERM',
    // JSON has no Infinity.
    graceMs: Math.min(spec.graceMs ?? place.graceMs, Number.MAX_SAFE_INTEGER),
    needs: (spec.needs ?? []).map(({ instance }) => instance),
  }
}

async function spawn(request: SpawnRequest, link: SupervisorLink): Promise<Spawned> {
  try {
    return await link.call<Spawned>('spawn', request, 60_000)
  } catch (cause) {
    const code = cause instanceof RpcFailure ? (cause.error.data as { code?: unknown } | undefined)?.code : undefined
    const { argv, cwd, name } = request
    throw new CustodyError(
      'CUSTODY_START_FAILED',
      `Could not start runtime "${name}": ${argv.join(' ')} in ${cwd}: ${code ?? (cause as Error).message}.`,
      {
        hint: 'check the command, its directory and PATH.',
        facts: { name, argv, cwd, code },
        cause,
      },
    )
  }
}

interface Watch {
  readonly match: RegExpMatchArray | null
  /** Why it did not become ready, or null. */
  readonly problem: string | null
  readonly observed: readonly string[]
  readonly exit: ExitNotice | null
}

async function untilReady<P extends string>(
  spec: StartSpec<P>,
  request: SpawnRequest,
  { identity, logs }: Spawned,
  ports: Readonly<Record<P, number>>,
  place: StartPlace,
  exit: Promise<ExitNotice>,
): Promise<Watch> {
  const conditions = [spec.ready ?? []].flat() as readonly Ready[]
  const readyMs = spec.readyMs ?? place.readyMs
  const over = new AbortController()
  const mark = birthmarkOf(request.id, [logs.stdout, logs.stderr].map(fileIdOf), identity)
  const observed = conditions.map(() => '')
  let match: RegExpMatchArray | null = null
  const [first] = Object.values<number>(ports)
  const probes = conditions.map((condition, at) =>
    probeOf(condition)({
      ports,
      url: first === undefined ? null : `http://127.0.0.1:${first}`,
      cwd: request.cwd,
      env: request.env,
      logs: { stdout: new LogFile(logs.stdout), stderr: new LogFile(logs.stderr) },
      ownsPort: (port) => ownsPort(port, mark, identity),
      owns: (pid) => pid === identity.pid || readBorn(pid, request.id) === 'environment' || platform.holdsFile(pid, mark.files),
      signal: over.signal,
      note: (text) => {
        observed[at] = `${describeReady(condition)}: ${text}`
      },
      matched: (found) => {
        match = found
      },
    }),
  )
  let cancel = () => {}
  const { signal } = place
  const outcome = await Promise.race([
    Promise.all(probes).then(() => ({ problem: null, exit: null })),
    exit.then((notice) => {
      // A command that daemonizes leaves with 0, and what it leaves behind is found by the evidence.
      if (spec.daemonizes && notice.exit.code === 0) return new Promise<never>(() => {})
      return { problem: 'it has exited', exit: notice }
    }),
    new Promise<{ problem: string; exit: null }>((resolve) => {
      const begun = clock.now()
      const endEarly = () =>
        resolve({ problem: `its test ended while it was not ready, after ${Math.round(clock.now() - begun)} ms`, exit: null })
      signal.addEventListener('abort', endEarly)
      if (signal.aborted) endEarly()
      cancel = Deadline.after(readyMs).onPassed(() => resolve({ problem: `it was not ready after ${readyMs} ms`, exit: null }))
    }),
  ])
  cancel()
  over.abort()
  await Promise.allSettled(probes)
  return { ...outcome, match, observed: observed.filter(Boolean) }
}

/** The oldest process that a daemonizing command has left. Its PID file is not asked. */
function adopt(request: SpawnRequest, { identity, logs }: Spawned): Identity {
  const mark = birthmarkOf(request.id, [logs.stdout, logs.stderr].map(fileIdOf), identity)
  const [oldest] = findBornHere(mark, []).sort((a, b) => Number(a.start) - Number(b.start))
  return oldest ?? identity
}

function withPortsOf<P extends string>(
  ports: Readonly<Record<P, number>>,
  match: RegExpMatchArray | null,
): Readonly<Record<P, number>> {
  const found = Object.entries(match?.groups ?? {}).filter(([, value]) => /^\d{1,5}$/.test(value ?? ''))
  return { ...ports, ...Object.fromEntries(found.map(([name, value]) => [name, Number(value)])) }
}

function startFailed(name: string, request: SpawnRequest, { logs }: Spawned, watch: Watch): CustodyError {
  const status = watch.exit?.exit
  const how =
    status === undefined
      ? watch.problem
      : status.signal
        ? `it was ended by ${status.signal}`
        : `it exited with code ${status.code}`
  const tail = [...new Set([logs.stdout, logs.stderr])]
    .map((path) => new LogFile(path).tail(20))
    .filter(Boolean)
    .join('\n')
  const lines = [...watch.observed.map((line) => `  ${line}`), ...(tail ? [tail] : ['  (no output)'])]
  return new CustodyError('CUSTODY_START_FAILED', `Could not start runtime "${name}": ${how}.\n${lines.join('\n')}`, {
    hint: status === undefined ? 'see what it waits for, or raise readyMs.' : 'see its last lines above.',
    facts: {
      name,
      argv: request.argv,
      code: status?.code ?? null,
      signal: status?.signal ?? null,
      observed: watch.observed,
      isPortTaken: watch.observed.some((line) => line.includes('another process listens')) || /EADDRINUSE/.test(tail),
    },
  })
}
