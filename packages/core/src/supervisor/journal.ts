import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { FileId } from '../tree/file-id.js'

/** What was started, a line each, written before anybody is told: whoever cleans up after the supervisor reads it. */
export interface JournalEntry {
  readonly id: NamespaceId
  readonly name: string
  readonly identity: Identity
  readonly files: readonly FileId[]
}

export function writeJournal(runDirectory: string, entry: JournalEntry): void {
  appendFileSync(join(runDirectory, 'journal.jsonl'), `${JSON.stringify(entry)}\n`, { mode: 0o600 })
}

export function readJournal(runDirectory: string): JournalEntry[] {
  try {
    const lines = readFileSync(join(runDirectory, 'journal.jsonl'), 'utf8').split('\n')
    // A last line without its end is from a supervisor that died while it wrote.
    return lines.slice(0, -1).map((line) => JSON.parse(line) as JournalEntry)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
