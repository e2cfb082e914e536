import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { logPath } from '../home.js'

const program = fileURLToPath(new URL('../server.js', import.meta.url))

/** Lines of the log that an error shows. */
const TAIL_LINES = 20

/**
 * Starts a server that outlives this process. It may lose against another one; then it leaves.
 * @param {string} home
 * @param {import('../stores/open-store.js').StoreKind} store
 * @param {number} idleMs
 */
export function spawnServer(home, store, idleMs) {
  const path = logPath(home)
  const log = openSync(path, 'a', 0o600)
  const from = fstatSync(log).size
  const child = spawn(process.execPath, [program, '--home', home, '--store', store, '--idle-ms', String(idleMs)], {
    cwd: home,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  return {
    /** @type {Promise<number | null>} the exit code; null after a signal */
    exited: once(child, 'exit').then(([code]) => code),
    /** What was written to the log since. */
    tail: () => readFileSync(path).subarray(from).toString().trimEnd().split('\n').slice(-TAIL_LINES).join('\n'),
  }
}
