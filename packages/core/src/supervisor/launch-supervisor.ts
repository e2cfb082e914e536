import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { WITNESS_VARIABLE } from '../witness/witness.js'
import { type RunRecord, writeRunRecord } from './run-record.js'

/** What a process needs to run at all, and what CI systems find their leftovers by. Nothing of the runner: it would slow it down. */
const KEPT = [
  ...['PATH', 'HOME', 'TMPDIR', 'XDG_RUNTIME_DIR', 'LANG', 'LC_ALL', 'TZ', 'USER', 'LOGNAME'],
  ...['SystemRoot', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'PATHEXT', 'ComSpec'],
  ...['RUNNER_TRACKING_ID', 'BUILD_ID', 'JENKINS_NODE_COOKIE', WITNESS_VARIABLE],
]

export const supervisorProgram: string = fileURLToPath(new URL('../supervisor.cjs', import.meta.url))

/** Starts the supervisor of a run: in a session of its own, so that no terminal ends it, and without the runner's variables. */
export function launchSupervisor(runDirectory: string, run: RunRecord): ChildProcess {
  writeRunRecord(runDirectory, run)
  const log = openSync(join(runDirectory, 'supervisor.log'), 'a', 0o600)
  try {
    const child = spawn(process.execPath, [supervisorProgram, 'serve', runDirectory], {
      cwd: '/',
      detached: true,
      env: {
        ...Object.fromEntries(KEPT.map((name) => [name, process.env[name]])),
        // An empty variable keeps it out of every namespace, also out of the one that this run itself stands in.
        CUSTODY_NAMESPACE: '',
        // Node passes its own on wherever this key is missing.
        NODE_V8_COVERAGE: undefined,
      },
      stdio: ['ignore', log, log],
      windowsHide: true,
    })
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}
