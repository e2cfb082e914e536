import { join } from 'node:path'
import { readText, writeText } from '@custody/runtime/internals'
import type { Baseline } from './baseline.js'

/** Where workers find a run's baseline: it may be longer than an environment variable. */
export interface BaselinePlace {
  readonly directory: string
  readonly hasBaseline: boolean
}

const read = new Map<string, Baseline>()

export function shareBaseline(runDirectory: string, baseline: Baseline): void {
  writeText(pathIn(runDirectory), JSON.stringify(baseline))
}

/** Null where there is none. Read once in each worker. */
export function sharedBaseline({ directory, hasBaseline }: BaselinePlace): Baseline | null {
  if (!hasBaseline) return null
  const baseline = read.get(directory) ?? (JSON.parse(readText(pathIn(directory))) as Baseline)
  read.set(directory, baseline)
  return baseline
}

function pathIn(runDirectory: string): string {
  return join(runDirectory, 'baseline.json')
}
