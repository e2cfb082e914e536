import { ControlGroups, enableNative, type Mechanism, type Native } from '../platform/index.js'

/**
 * How surely it is known what was born of what: 0 with plain Node; 1 where native code has orphans come to the supervisor, and holds
 * processes while it signals them; 2 where besides everything that is started lives in a control group.
 */
export type Level = 0 | 1 | 2

/** Which level holds, and by what. */
export interface Reached {
  readonly level: Level
  readonly mechanisms: readonly Mechanism[]
}

/** What a supervisor has beyond plain Node. */
export interface Means extends Reached {
  readonly native: Native | null
  readonly groups: ControlGroups | null
}

export const plainMeans: Means = { level: 0, mechanisms: [], native: null, groups: null }

/**
 * Takes what this machine has: has orphans come to this process, and moves it into a control group. Each part is tried by itself, and
 * what is missing is done without.
 * @param most the highest level that is wanted
 * @param run whose supervisor this process is
 * @param from files from which on the native library may be found
 */
export function takeMeans(most: Level, run: string, from: readonly string[]): Means {
  const native = most >= 1 ? enableNative(from) : null
  native?.adoptOrphans()
  const groups = most >= 2 ? ControlGroups.open(run) : null
  const mechanisms: Mechanism[] = [...(native?.mechanisms ?? []), ...(groups === null ? [] : (['cgroup'] as const))]
  const hasFirst = mechanisms.includes('subreaper') && mechanisms.includes('pidfd')
  return { level: hasFirst ? (groups === null ? 1 : 2) : 0, mechanisms, native, groups }
}
