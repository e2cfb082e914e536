import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { appendLines, isObject, parseJson, readText } from '@custody/runtime/internals'
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
  appendLines(join(runDirectory, 'journal.jsonl'), [JSON.stringify(entry)])
}

export function readJournal(runDirectory: string): JournalEntry[] {
  try {
    const lines = readText(join(runDirectory, 'journal.jsonl')).split('\n').map(parseJson)
    // Half a line is from a supervisor that died while it wrote, or had no room: what it was starting then it has stopped.
    return lines.filter(isObject) as unknown as JournalEntry[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
