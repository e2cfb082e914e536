import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform, seeStart } from '@custody/runtime/internals'
import { WITNESS_VARIABLE } from '../witness/witness.js'
import { noteChild } from './orphans.js'
import type { RunRecord } from './run-record.js'

// Waits for a line or for the end of the pipe, which the kernel closes when the supervisor dies, however it dies.
const script = 'trap "" TERM INT HUP; read -r word; [ "$word" = done ] || exec "$0" "$@"'

/** One tiny shell that outlives the supervisor for as long as it takes to clean up after it. */
export interface Sentinel {
  readonly identity: Identity
  /** Sends it home: everything has been ended. */
  dismiss(): void
}

/**
 * Posts the sentinel of a run. POSIX only: null on Windows, where the job of the supervisor ends its children with it. Null also where the
 * machine has no room for one more process: then the next run cleans up.
 * @param program the supervisor's own file, which also knows how to sweep
 * @param run what it takes along: the run's directory may be removed before it is needed
 */
export function postSentinel(program: string, runDirectory: string, run: RunRecord): Sentinel | null {
  if (!runtimePlatform.hasFileModes) return null
  let shell: ChildProcess
  try {
    shell = startShell(program, runDirectory, run)
  } catch (error) {
    console.error(error)
    return null
  }
  shell.on('error', (error) => console.error(error))
  const { pid } = shell
  if (pid === undefined) return null
  noteChild(shell)
  const pipe = shell.stdin as Writable & { unref?: () => void }
  // It may have been killed: then nobody listens, and nothing depends on it.
  pipe.on('error', () => {})
  shell.unref()
  pipe.unref?.()
  const { boot, pidns, timens } = ownIdentity()
  return {
    identity: { pid, start: seeStart(pid), boot, pidns, timens },
    dismiss: () => void pipe.write('done\n'),
  }
}

function startShell(program: string, runDirectory: string, run: RunRecord): ChildProcess {
  return spawn('/bin/sh', ['-c', script, ...commandOf(program), 'sweep', runDirectory, JSON.stringify(run)], {
    cwd: '/',
    // What it does is told as well.
    env: { [WITNESS_VARIABLE]: process.env[WITNESS_VARIABLE] },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
}

/** What runs a program in the engine that this process runs in. A shell knows nothing of Deno's permissions. */
function commandOf(program: string): string[] {
  return [process.execPath, ...('deno' in process.versions ? ['run', '--allow-all'] : []), program]
}
