import { clock } from '@custody/runtime/internals'
import { findLeft } from '../leaks/find-left.js'
import { reasonToAllow } from '../leaks/reason-to-allow.js'
import type { SpawnSite } from '../namespace/birth-state.js'
import { withoutSecrets } from '../tree/without-secrets.js'
import { forceEnd } from './end-now.js'
import type { Scope } from './scope.js'
import { timeLimits } from './time-limits.js'

/**
 * Ends what code of a test has started in the runner's own process when the run had ended: nobody else looks any more. It has the time that
 * any leak has to exit, or as long as this process goes on.
 */
export function endAfterRun(scope: Scope, site: SpawnSite, isRed: boolean): void {
  const end = () => {
    if (ends.delete(end)) endAt(scope, site, isRed)
  }
  if (ends.size === 0) process.once('exit', endAll)
  ends.add(end)
  clock.setTimeout(end, timeLimits(scope.run.options).exitMs).unref()
}

/** Those that are to come. */
const ends = new Set<() => void>()

function endAll(): void {
  for (const end of ends) end()
}

function endAt(scope: Scope, site: SpawnSite, isRed: boolean): void {
  const { birth, declared, id, name, run } = scope
  for (const left of findLeft(id, [birth], run.runner)) {
    if (left.site !== site) continue
    const { command, identity } = left
    if (reasonToAllow(command, declared, run.options) === null) {
      const text = `${name} left pid ${identity.pid}, which it started when the run had ended: ${withoutSecrets(command).join(' ')}`
      console.error(`custody  warning: ${text}`)
      if (isRed) process.exitCode = 1
    }
    forceEnd(left, scope)
  }
}
