import type { Identity } from '@custody/runtime'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Allowance } from '../options/options.js'
import { platform } from '../platform/index.js'
import { type Birthmark, markOfFamilies, sinceOf } from '../tree/birthmark.js'
import { findBornHere } from '../tree/find-born-here.js'
import { stopTree } from '../tree/stop-tree.js'
import { exemptAmong, exemptScopes } from './exemptions.js'
import type { Means } from './means.js'
import { listOrphans } from './orphans.js'
import type { Swept } from './protocol.js'
import type { Exemption } from './write-exemption.js'

/** What is swept, and what goes on. */
export interface SweepOptions {
  readonly scope: NamespaceId
  /** Whether the scope is the run. */
  readonly isRun: boolean
  /** The runner's main process: never a target. */
  readonly runner: Identity
  readonly means: Means
  /** What goes on although it was born there. */
  readonly kept: readonly Birthmark[]
  /** Besides what shows its birth itself: found by who was its parent. */
  readonly known?: readonly Identity[]
  /** Never targets, nor what has descended from them. */
  readonly spared?: readonly Identity[]
  /** What tests may leave: no signal goes to it. */
  readonly allow: readonly Allowance[]
  readonly commonHelpers: boolean
  /** The same, as tests and files have said it. */
  readonly exemptions: readonly Exemption[]
  readonly graceMs: number
}

/** Ends what nobody has accounted for: what a command left behind, or a process that a test has started by itself. */
export async function sweepScope(options: SweepOptions): Promise<Swept[]> {
  const { exemptions, graceMs, isRun, kept, known = [], means, runner, scope, spared = [] } = options
  const except = [...kept, ...exemptScopes(exemptions)]
  // Of what in the run orphans and members of its group were born, nobody knows: it could be what goes on.
  const isAll = isRun && except.length === 0
  const born: Birthmark = {
    ...{ namespace: scope, files: [], known, except, ...sinceOf(runner) },
    ...(isAll && means.groups !== null && { group: means.groups.path }),
    ...(isAll && means.mechanisms.includes('subreaper') && { orphans: listOrphans }),
  }
  const own = [runner, ...spared]
  const mark = { ...born, except: [...except, markOfFamilies(spared), exemptAmong(findBornHere(born, own), options, exemptions)] }
  const found = findBornHere(mark, own)
  if (found.length === 0) return []
  const commands = found.map((identity) => ({ identity, command: platform.readCommand(identity.pid) }))
  const { left } = await stopTree({ mark, leader: null, spared: own, stopSignal: 'SIGTERM', graceMs })
  const isAlive = ({ pid }: Identity) => left.some((each) => each.pid === pid)
  return commands.map((each) => ({ ...each, isAlive: isAlive(each.identity) }))
}
