import { type Birth, birthState, type SpawnSite } from './birth-state.js'
import { currentCell } from './cells.js'

/** How many places of one scope are kept. */
const MAX_SITES = 32
/** Libraries stand between a test and what it starts. */
const MAX_FRAMES = 30

// biome-ignore lint/suspicious/noExplicitAny: functions of any type are wrapped, and their arguments passed on as they are
export type AnyFunction = (...args: any[]) => any

/** What is noted of a birth. */
export interface Born {
  readonly birth: Birth
  readonly site: SpawnSite
  readonly isLate: boolean
  /** Null where children are not marked. */
  readonly mark: string | null
}

/** Notes a birth in the current scope; null where there is none. Must not throw: it runs inside of spawn. */
export function beBorn(below: AnyFunction): Born | null {
  const state = birthState()
  if (state.ownSpawns > 0) return null
  const current = currentCell()
  if (current === null && state.setups.size === 0) return null
  const site = state.callSite ?? captureSite(below)
  const watch = [...state.setups].find((each) => (current === null ? each.accepts(site) : each.cell === current))
  if (watch !== undefined) format(site)
  const cell = current ?? watch?.cell
  if (cell === undefined) return null
  const { birth, isOver } = cell
  noteBirth(birth, site)
  if (isOver) state.onStray?.(birth, site)
  const { runDirectory } = watch ?? state
  return { birth, site, isLate: isOver, mark: runDirectory === null ? null : `${birth.id}:${runDirectory}` }
}

/** Formats the places that a leak may be told by at the end of its file. */
export function formatSitesOf({ children, sites }: Birth): void {
  for (const site of [...children.map((child) => child.site), ...sites.slice(0, 1)]) format(site)
}

/** Has V8 format a stack now: once the runner has closed what maps code to its source, the lines would be those of the compiled code. */
function format(site: SpawnSite): void {
  try {
    Reflect.get(site, 'stack')
  } catch {
    // A user's Error.prepareStackTrace may throw. Then no line is told.
  }
}

/** Notes that something was started here. */
export function noteBirth(birth: Birth, site: SpawnSite): void {
  for (let each: Birth | null = birth; each !== null; each = each.above) each.spawned++
  if (birth.sites.length < MAX_SITES) birth.sites.push(site)
}

/** A test may take it away. */
const { captureStackTrace } = Error

/** The place that called `below`, in up to `MAX_FRAMES` frames; in fewer where a test has frozen the limit. */
export function captureSite(below: AnyFunction): SpawnSite {
  const site: SpawnSite = {}
  const limit = Error.stackTraceLimit
  Reflect.set(Error, 'stackTraceLimit', MAX_FRAMES)
  captureStackTrace(site, below)
  Reflect.set(Error, 'stackTraceLimit', limit)
  return site
}

/** Starts a process on behalf of a call, which is noted as the place that started it. Synchronous, and not nested. */
export function spawnedBy<T>(site: SpawnSite, spawn: () => T): T {
  const state = birthState()
  state.callSite = site
  try {
    return spawn()
  } finally {
    state.callSite = null
  }
}

/** Starts a process that is Custody's own, such as a probe: it is not noted as a test's. */
export function unnoted<T>(spawn: () => T): T {
  const state = birthState()
  state.ownSpawns++
  try {
    return spawn()
  } finally {
    state.ownSpawns--
  }
}
