import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasEnded } from '@custody/runtime/internals'
import { findLeft, type Left } from '../leaks/find-left.js'
import { removeDirectory } from '../platform/index.js'
import { sendSignal } from '../tree/send-signal.js'
import { leakPolicyOf } from './leak-policy.js'
import { mayStay } from './may-stay.js'
import type { Scope } from './scope.js'

/**
 * Ends at once what a file has left whose run has ended before, and removes its directories: its worker exits, and nobody looks later.
 * Synchronous, and so by force.
 */
export function endNow(scope: Scope): void {
  const { births, id, run } = scope
  if (hasEnded(run.runner) !== true) return
  const left = leakPolicyOf(scope) === 'off' ? [] : findLeft(id, births, run.runner)
  for (const each of left) forceEnd(each, scope.starterOf(each.namespace))
  removeNamespaces(scope)
}

/** Ends by force what was left, with what descends from it, but for what may stay. */
export function forceEnd(left: Left, starter: Scope): void {
  const { descendants, identity, proof } = left
  if (mayStay(starter, identity.pid)) return
  sendSignal('SIGKILL', { kind: 'process', identity, proof })
  for (const each of descendants) {
    if (!mayStay(starter, each.pid)) sendSignal('SIGKILL', { kind: 'process', identity: each, proof: 'descendant' })
  }
}

/** Those of the file and its tests; and what was made anew above them when all of the run had been removed. */
function removeNamespaces({ id, run }: Scope): void {
  const all = join(run.storage, 'ns')
  const own = id.slice(run.id.length + 1)
  try {
    for (const name of readdirSync(all)) {
      if (name === own || name.startsWith(`${own}.`)) removeDirectory(join(all, name))
    }
    // One that was killed keeps its directory, and with it all that was noted, for the next run.
    if (existsSync(join(run.directory, 'run.json'))) return
    rmSync(join(run.directory, 'events.jsonl'), { force: true })
    for (const path of new Set([all, run.storage, run.directory])) rmdirSync(path)
  } catch (error) {
    // Something is kept there for people, or nothing was made.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error
  }
}
