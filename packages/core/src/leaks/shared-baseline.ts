import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Baseline } from './baseline.js'

/** Where workers find a run's baseline: it may be longer than an environment variable. */
export interface BaselinePlace {
  readonly directory: string
  readonly hasBaseline: boolean
}

const read = new Map<string, Baseline>()

export function shareBaseline(runDirectory: string, baseline: Baseline): void {
  writeFileSync(pathIn(runDirectory), JSON.stringify(baseline), { mode: 0o600 })
}

/** Null where there is none. Read once in each worker. */
export function sharedBaseline({ directory, hasBaseline }: BaselinePlace): Baseline | null {
  if (!hasBaseline) return null
  const baseline = read.get(directory) ?? (JSON.parse(readFileSync(pathIn(directory), 'utf8')) as Baseline)
  read.set(directory, baseline)
  return baseline
}

function pathIn(runDirectory: string): string {
  return join(runDirectory, 'baseline.json')
}
