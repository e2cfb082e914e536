import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Logs, StartSpec } from '../options/start-spec.js'
import type { SpawnRequest } from '../supervisor/protocol.js'
import { isList, refusal } from './check-spec.js'
import type { Reservation } from './reserve-ports.js'

/** Where something is started, as far as its process sees it. */
export interface SpawnPlace {
  /** The namespace that the runtime gets for itself. */
  readonly id: NamespaceId
  /** What it ends with. */
  readonly scope: NamespaceId
  readonly runDirectory: string
  /** Its own directory. */
  readonly dir: string
  readonly root: string
  /** The environment of the test at the call. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly graceMs: number
  /** What is shown of outputs by default. */
  readonly logs: Logs
  /** Names of those whose output is shown as it comes, whatever else is said. */
  readonly streamed: readonly string[]
  readonly isKept?: boolean
}

/** Completes a specification: the supervisor decides nothing. */
export function spawnRequestOf<P extends string>(
  spec: StartSpec<P>,
  place: SpawnPlace,
  { claims, ports }: Pick<Reservation<P>, 'claims' | 'ports'>,
): SpawnRequest {
  mkdirSync(place.dir, { recursive: true, mode: 0o700 })
  return {
    id: place.id,
    scope: place.scope,
    name: spec.name,
    argv: argvOf(spec, { ports, dir: place.dir, namespace: place.id }),
    shell: spec.shell ?? false,
    cwd: resolve(place.root, spec.cwd ?? ''),
    env: environmentOf(spec, place, ports),
    areStreamsApart: [spec.ready ?? []].flat().some((ready) => 'log' in ready && ready.stream !== undefined),
    stopSignal: spec.stopSignal ?? 'SIGTERM',
    // JSON has no Infinity.
    graceMs: Math.min(spec.graceMs ?? place.graceMs, Number.MAX_SAFE_INTEGER),
    needs: (spec.needs ?? []).flatMap((need) => ('instance' in need ? need.instance : [])),
    portClaims: claims,
    daemonizes: spec.daemonizes ?? false,
    isStreamed: (spec.logs ?? place.logs) === 'stream' || place.streamed.includes(spec.name),
    isKept: place.isKept ?? false,
  }
}

function argvOf<P extends string>(
  { command, shell }: StartSpec<P>,
  given: { ports: Readonly<Record<P, number>>; dir: string; namespace: string },
): [string, ...string[]] {
  const chosen: unknown = typeof command === 'function' ? command(given) : command
  if (isList(chosen)) return [...(chosen as [string, ...string[]])]
  if (typeof chosen !== 'string') throw refusal('command', chosen, 'a function that returns a list of program and arguments')
  return (shell ? [chosen] : chosen.trim().split(/\s+/)) as [string, ...string[]]
}

function environmentOf(
  spec: Pick<StartSpec, 'env'>,
  place: SpawnPlace,
  ports: Readonly<Record<string, number>>,
): Record<string, string> {
  const [first] = Object.values(ports)
  const env = {
    // Its lines are to come when they are written, as on a terminal.
    PYTHONUNBUFFERED: '1',
    ...place.env,
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [`${name.toUpperCase()}_PORT`, String(port)])),
    ...(first !== undefined && { PORT: String(first) }),
    ...spec.env,
    CUSTODY_NAMESPACE: `${place.id}:${place.runDirectory}`,
  }
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
