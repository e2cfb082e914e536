import { reasonToAllow } from '../leaks/reason-to-allow.js'
import { platform } from '../platform/index.js'
import type { Scope } from './scope.js'

/** Whether a process that a scope has started is allowed to go on, and is to be ended by nobody. */
export function mayStay({ declared, run }: Scope, pid: number): boolean {
  return reasonToAllow(platform.readCommand(pid), declared, run.options)?.isEnded === false
}
