import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TaskdError } from '../errors.js'

/**
 * Where tasks are kept. `put` has written when it returns.
 * @typedef {import('../tasks/lease.js').Task} Task
 * @typedef {{ all(): Task[], get(id: string): Task | undefined, put(task: Task): void, count(): number, close(): void }} Store
 * @typedef {'file' | 'sqlite'} StoreKind
 */

/** @type {Record<StoreKind, string>} */
const fileNames = { file: 'tasks.json', sqlite: 'tasks.sqlite' }

/**
 * Which store a home has. A home keeps the one that it began with: two would each know half of the tasks.
 * @param {string} home
 * @param {string} [asked]
 * @returns {StoreKind}
 */
export function chooseStore(home, asked) {
  const kinds = /** @type {StoreKind[]} */ (Object.keys(fileNames))
  const had = kinds.find((kind) => existsSync(join(home, fileNames[kind])))
  if (had !== undefined && asked !== undefined && asked !== had) throw storeMismatch(home, had, asked)
  return had ?? /** @type {StoreKind} */ (asked) ?? 'file'
}

/** @param {string} home @param {string} had @param {string} asked */
export function storeMismatch(home, had, asked) {
  const message = `${home} keeps its tasks in the store "${had}", not "${asked}".`
  return new TaskdError({ code: 'store_mismatch', message, hint: `leave --store out, or choose another --home.` })
}

/**
 * Loads the code of a store, all of it: the package may be deleted while the server runs.
 * @param {string} home
 * @param {StoreKind} kind
 * @returns {Promise<() => Store>} opens it. Only for the server that has published in this home: then nobody else has it open
 */
export async function loadStore(home, kind) {
  const path = join(home, fileNames[kind])
  if (kind === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite-store.js')
    return () => openSqliteStore(path)
  }
  const { openFileStore } = await import('./file-store.js')
  return () => openFileStore(path)
}
