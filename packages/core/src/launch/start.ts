import { dirname } from 'node:path'
import type { Identity } from '@custody/runtime'
import { CustodyError, isCustodyError, isRpcFailure } from '@custody/runtime/internals'
import type { Ready, StartSpec } from '../options/start-spec.js'
import type { SupervisorLink } from '../supervisor/link.js'
import { type Ended, type Spawned, type SpawnRequest, SUPERVISOR_LINE_BYTES } from '../supervisor/protocol.js'
import { withoutSecrets } from '../tree/without-secrets.js'
import { refusal } from './check-spec.js'
import { LogFile } from './log-file.js'
import { type Reservation, reservePorts } from './reserve-ports.js'
import { type SpawnPlace, spawnRequestOf } from './spawn-request.js'
import { type Launched, runtimeOf, STOP_MARGIN_MS, type Started } from './started-runtime.js'
import { surroundingsOf, untilReady, type Watch } from './until-ready.js'

/** How long the supervisor may take to start a process, in milliseconds: a burst of them takes turns. */
const SPAWN_MS = 60_000

/** Leaves room for what is around it in a line. */
const MAX_REQUEST_BYTES = SUPERVISOR_LINE_BYTES - 64 * 1024

const NOTHING_LEFT = 'it is ready, and nothing is left of its command that the kernel shows to be born of it'

/** Where something is started, and what holds there. */
export interface StartPlace extends SpawnPlace {
  readonly link: SupervisorLink
  readonly readyMs: number
  /** Aborts when the scope ends before the runtime is ready. */
  readonly signal: AbortSignal
}

/**
 * Starts a runtime and waits until it is ready. Whatever goes wrong, everything that was started has been stopped before this rejects.
 *
 * @param spec checked by `checkSpec` before
 * @throws CUSTODY_NO_PORT
 * @throws CUSTODY_START_FAILED with exit code and signal, the addresses tried, and the last lines of its output
 */
export async function start<P extends string>(spec: StartSpec<P>, place: StartPlace): Promise<Started<P>> {
  for (let attempt = 1; ; attempt++) {
    const reservation = await reservePorts(spec.ports ?? [], dirname(place.runDirectory), place.link.locator)
    try {
      let launches = attempt - 1
      const launch = (signal = place.signal) => launchOnce(spec, { ...place, signal }, reservation, ++launches)
      return runtimeOf(await launch(), launch)
    } catch (error) {
      reservation.release()
      // A stranger has taken one of its ports in the meantime: others will do.
      if (attempt > 1 || !isCustodyError(error) || error.facts['isPortTaken'] !== true) throw error
    }
  }
}

async function launchOnce<P extends string>(
  spec: StartSpec<P>,
  place: StartPlace,
  reservation: Reservation<P>,
  launches: number,
): Promise<Launched<P>> {
  const { link } = place
  const { ports, release } = reservation
  const id = launches === 1 ? place.id : `${place.id}x${launches}`
  const request = spawnRequestOf(spec, { ...place, id }, reservation)
  const isHidden = (spec.logs ?? place.logs) === 'never'
  const spawned = await spawn(request, link)
  const exit = link.exitOf(id)
  const watch = await untilReady(surroundingsOf(request, spawned, ports), {
    conditions: [spec.ready ?? []].flat() as readonly Ready[],
    readyMs: spec.readyMs ?? place.readyMs,
    daemonizes: spec.daemonizes ?? false,
    mayExit: spec.onExit === 'ignore',
    signal: place.signal,
    exit,
  })
  if (watch.problem !== null) throw await giveUp(request, spawned, { ...watch, isHidden }, link)
  const { daemonizes = false } = spec
  const identity = daemonizes ? await link.call<Identity | null>('adopt', { id }) : spawned.identity
  if (identity === null) throw await giveUp(request, spawned, { ...watch, isHidden, problem: NOTHING_LEFT }, link)
  return {
    ...{
      id,
      name: spec.name,
      match: watch.match,
      host: watch.host,
      env: request.env,
      dir: place.dir,
      graceMs: request.graceMs,
      isHidden,
      link,
      exit: daemonizes ? link.exitOf(id, true) : exit,
    },
    identity,
    log: new LogFile(spawned.logs.stdout),
    onStopped: release,
    ports: withPortsOf(ports, watch.match),
  }
}

async function spawn(request: SpawnRequest, link: SupervisorLink): Promise<Spawned> {
  // It travels as a text in a text.
  const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(request)))
  if (bytes > MAX_REQUEST_BYTES) throw refusal('the command with its environment', `${bytes} bytes long`, 'less than 8 MB')
  try {
    return await link.call<Spawned>('spawn', request, SPAWN_MS)
  } catch (cause) {
    const code = isRpcFailure(cause) ? (cause.error.data as { code?: unknown } | undefined)?.code : undefined
    const { cwd, name } = request
    const argv = withoutSecrets(request.argv)
    const observed = `Could not start runtime "${name}": ${shorten(argv.join(' '))} in ${cwd}: ${code ?? (cause as Error).message}.`
    throw new CustodyError('CUSTODY_START_FAILED', observed, {
      hint: 'check the command, its directory and PATH.',
      facts: { name, argv, cwd, code },
      cause,
    })
  }
}

/** Stops what did not become ready, and says why it did not. */
async function giveUp(
  request: SpawnRequest,
  spawned: Spawned,
  watch: Watch & { readonly isHidden: boolean },
  link: SupervisorLink,
): Promise<CustodyError> {
  const tail = tailOf(spawned)
  // A stop that fails as well is told with the end of the scope: it is still in the supervisor's books.
  const ended = await link.call<Ended | null>('stop', { id: request.id }, request.graceMs + STOP_MARGIN_MS).catch(() => null)
  const status = watch.exit?.exit
  const how =
    status === undefined
      ? watch.problem
      : status.signal
        ? `it was ended by ${status.signal}`
        : `it exited with code ${status.code}`
  const left = ended?.left ?? []
  const lines = [
    ...watch.observed.map((line) => `  ${line}`),
    watch.isHidden ? "  (its output is not shown: logs is 'never')" : tail || '  (no output)',
    ...left.map(({ pid }) => `  pid ${pid} is still alive`),
  ]
  return new CustodyError('CUSTODY_START_FAILED', `Could not start runtime "${request.name}": ${how}.\n${lines.join('\n')}`, {
    hint: hintFor(watch),
    facts: {
      name: request.name,
      argv: withoutSecrets(request.argv),
      code: status?.code ?? null,
      signal: status?.signal ?? null,
      observed: watch.observed,
      left,
      isPortTaken: watch.observed.some((line) => line.includes('another process listens')) || /EADDRINUSE/.test(tail),
    },
    cause: watch.cause,
  })
}

function hintFor({ cause, exit, problem }: Watch): string {
  if (isCustodyError(cause)) return cause.hint
  if (exit !== null) return 'see its last lines above.'
  const [, ender] = /^its (test|file) ended/.exec(problem ?? '') ?? []
  const [place, limit] =
    ender === 'file' ? ['a hook', "the runner's own limit for hooks"] : ['the test', "the runner's own limit"]
  return ender !== undefined
    ? `await it in ${place}; where ${limit} is shorter than readyMs, raise that or lower this.`
    : 'see what it waits for, or raise readyMs.'
}

function tailOf({ logs }: Spawned): string {
  const tails = [...new Set([logs.stdout, logs.stderr])].map((path) => new LogFile(path).tail(20))
  return tails.filter(Boolean).join('\n')
}

function withPortsOf<P extends string>(
  ports: Readonly<Record<P, number>>,
  match: RegExpMatchArray | null,
): Readonly<Record<P, number>> {
  const found = Object.entries(match?.groups ?? {}).filter(([, value]) => /^\d{1,5}$/.test(value ?? ''))
  return { ...ports, ...Object.fromEntries(found.map(([name, value]) => [name, Number(value)])) }
}

/** An argument may be a whole program. */
function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text
}
