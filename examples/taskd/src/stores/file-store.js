import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hasCode } from '../errors.js'

/**
 * All tasks in one JSON file.
 * @param {string} path
 * @returns {import('./open-store.js').Store}
 */
export function openFileStore(path) {
  /** @type {Map<string, import('./open-store.js').Task>} */
  const tasks = new Map(readTasks(path).map((task) => [task.id, task]))
  return {
    all: () => [...tasks.values()],
    get: (id) => tasks.get(id),
    put(task) {
      // First the file: what could not be written is not there for the next reader either.
      replaceFile(path, JSON.stringify([...new Map(tasks).set(task.id, task).values()]))
      tasks.set(task.id, task)
    },
    count: () => tasks.size,
    close() {},
  }
}

function readTasks(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw new Error(`Could not read the tasks in ${path}: ${error.message}`, { cause: error })
  }
}

/** Whole or not at all, also when the power fails. */
function replaceFile(path, text) {
  const draft = `${path}.draft`
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, path)
}
