import { rmdirSync } from 'node:fs'
import sqlite from 'node-sqlite3-wasm'
import { hasCode } from '../errors.js'

/**
 * A row for each task.
 * @param {string} path
 * @returns {import('./open-store.js').Store}
 */
export function openSqliteStore(path) {
  removeStaleLock(path)
  const database = new sqlite.Database(path)
  // WAL needs no look at the lock to recover after a crash; the rollback journal does, and takes our own lock directory for that of
  // another process. WAL without shared memory, which this build has not, needs the exclusive mode, set before it.
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('CREATE TABLE IF NOT EXISTS tasks (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, task TEXT NOT NULL)')
  return {
    all: () => database.all('SELECT task FROM tasks ORDER BY number').map(parse),
    get(id) {
      const row = database.get('SELECT task FROM tasks WHERE id = ?', [id])
      return row === null ? undefined : parse(row)
    },
    put(task) {
      database.run('INSERT INTO tasks (id, task) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET task = excluded.task', [
        task.id,
        JSON.stringify(task),
      ])
    },
    count: () => Number(database.get('SELECT count(*) AS count FROM tasks').count),
    close: () => database.close(),
  }
}

/**
 * This build of SQLite locks with a directory beside the file, which outlives a crash and would lock everybody out for ever. The
 * published locator is the true lock: there is one server to a home, and this is it, so a lock that is here is of a dead one.
 */
function removeStaleLock(path) {
  try {
    rmdirSync(`${path}.lock`)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

function parse(row) {
  return JSON.parse(row.task)
}
