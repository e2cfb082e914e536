import { clock } from '@custody/runtime/internals'
import { findLeft } from '../leaks/find-left.js'
import { reasonToAllow } from '../leaks/reason-to-allow.js'
import type { SpawnSite } from '../namespace/birth-state.js'
import { withoutSecrets } from '../tree/without-secrets.js'
import type { Scope } from './scope.js'
import { timeLimits } from './time-limits.js'

/**
 * Ends what code of a test has started in the runner's own process when the run had ended: nobody else looks any more. It has the time that
 * any leak has to exit, or as long as this process goes on.
 */
export function endAfterRun(scope: Scope, site: SpawnSite, isRed: boolean): void {
  const { allowances, birth, file, id, name, run } = scope
  const declared = [...allowances, ...(file?.allowances ?? [])]
  let isDone = false
  const end = () => {
    if (isDone) return
    isDone = true
    for (const { command, identity, site: at } of findLeft(id, [birth], run.runner)) {
      if (at !== site || reasonToAllow(command, declared, run.options) !== null) continue
      const text = `${name} left pid ${identity.pid}, which it started when the run had ended: ${withoutSecrets(command).join(' ')}`
      console.error(`custody  warning: ${text}`)
      if (isRed) process.exitCode = 1
      // By the object that its starter has of it: it is no other process.
      const child = birth.children.find(({ process: { pid } }) => pid === identity.pid)?.process
      ;(child as { kill?(signal: string): void } | undefined)?.kill?.('SIGKILL')
    }
  }
  clock.setTimeout(end, timeLimits(run.options).exitMs).unref()
  process.once('exit', end)
}
