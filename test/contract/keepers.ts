import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { runtimePlatform } from '@custody/runtime/internals'
import type { Noted } from './noted.js'

/** Who keeps a run. */
export interface Keepers {
  readonly supervisor: Identity
  readonly sentinel: Identity
}

/** The directory of the one run of a base directory that goes on. */
export function runDirectoryIn(base: string): string {
  const own = join(base, `custody-${process.getuid?.()}`)
  const found = readdirSync(own).find((name) => existsSync(join(own, name, 'run.json')))
  if (found === undefined) throw new Error(`There is no run in ${own}.`)
  return join(own, found)
}

/** The run's own record of who keeps it. */
export function readKeepers(base: string): Keepers {
  const { sentinel, supervisor } = JSON.parse(readFileSync(join(runDirectoryIn(base), 'run.json'), 'utf8')) as Keepers
  return { sentinel, supervisor }
}

export function identify(pid: number): Noted {
  return { pid, start: runtimePlatform.readStart(pid) }
}
