import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { appendLines, isObject, parseJson, readText } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { FileId } from '../tree/file-id.js'

/**
 * What was started, a line each, written before anybody is told: whoever cleans up after the supervisor reads it. One more line says
 * that all of it has ended. Only then may its logs be removed: the kernel may give their inode numbers to a stranger's files, and whoever
 * writes to those would be taken for ours.
 */
export interface JournalEntry {
  readonly id: NamespaceId
  readonly name: string
  readonly identity: Identity
  readonly files: readonly FileId[]
}

export function writeJournal(runDirectory: string, entry: JournalEntry): void {
  appendLines(join(runDirectory, 'journal.jsonl'), [JSON.stringify(entry)])
}

/** Notes that of these nothing is left. */
export function writeEnded(runDirectory: string, ids: readonly NamespaceId[]): void {
  appendLines(
    join(runDirectory, 'journal.jsonl'),
    ids.map((ended) => JSON.stringify({ ended })),
  )
}

/** What was started, and has not been noted to have ended. */
export function readJournal(runDirectory: string): JournalEntry[] {
  try {
    const lines = readText(join(runDirectory, 'journal.jsonl')).split('\n').map(parseJson)
    // What was cut while it was written is of something that was not started, or was ended at once. It must not hide the others.
    const notes = lines.filter(isObject) as unknown as (JournalEntry | { readonly ended: NamespaceId })[]
    const ended = new Set(notes.flatMap((note) => ('ended' in note ? note.ended : [])))
    return notes.flatMap((note) => ('ended' in note || ended.has(note.id) ? [] : note))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
