import { renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { isObject, parseJson, readText, writeText } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Allowance } from '../options/options.js'
import type { Level } from './means.js'

/** What a run's directory says about it, for those who find it later. */
export interface RunRecord {
  readonly version: 1
  readonly id: NamespaceId
  readonly runner: Identity
  readonly supervisor: Identity | null
  readonly sentinel: Identity | null
  /** The control group of all that its supervisor starts. */
  readonly group: string | null
  readonly storage: string
  readonly root: string
  /** What tests may leave: no signal goes to it. */
  readonly allow: readonly Allowance[]
  /** Whether the helpers of well-known tools are left alone. */
  readonly commonHelpers: boolean
  /** Whether what tests have left is ended with the run. */
  readonly isSwept: boolean
  /** The highest level that is wanted. */
  readonly mostLevel: Level
  /** ISO 8601, for people. */
  readonly created: string
}

export function writeRunRecord(runDirectory: string, record: RunRecord): void {
  const draft = join(runDirectory, `.run.json.${process.pid}`)
  writeText(draft, JSON.stringify(record))
  renameSync(draft, join(runDirectory, 'run.json'))
}

/** Null when the directory is no run's, or was made a moment ago, or what stands there is no record: then nothing is known of it. */
export function readRunRecord(runDirectory: string): RunRecord | null {
  try {
    const record = parseJson(readText(join(runDirectory, 'run.json')))
    return isObject(record) ? (record as unknown as RunRecord) : null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}
