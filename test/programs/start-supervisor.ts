import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Identity } from '@custody/runtime'
import { Deadline, ownIdentity } from '@custody/runtime/internals'
import { buildSync } from 'esbuild'
import { onTestFinished } from 'vitest'
import { newRunId } from '../../packages/core/src/namespace/namespace-id.js'
import { observeExit } from '../../packages/core/src/retire/observe-exit.js'
import { type RunRecord, readRunRecord, writeRunRecord } from '../../packages/core/src/supervisor/run-record.js'
import { temporaryDirectory } from '../runtime/temporary-directory.js'

export interface StartedSupervisor {
  readonly runDirectory: string
  readonly run: RunRecord
  readonly child: ChildProcess
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** What the run's directory says by now. */
  record(): RunRecord
}

/** Makes one file of a source of the core, as the build does. */
export function bundle(source: string, outfile: string, format: 'cjs' | 'esm' = 'cjs'): string {
  const entry = fileURLToPath(new URL(`../../packages/core/src/${source}`, import.meta.url))
  buildSync({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format, target: 'node20', logLevel: 'error' })
  return outfile
}

/** A new run's record, which names a runner. */
export function newRecord(runner: Identity = ownIdentity()): RunRecord {
  return {
    ...{ version: 1, id: newRunId(null), runner, supervisor: null, sentinel: null, group: null },
    ...{
      mostLevel: 2,
      allow: [],
      commonHelpers: true,
      isSwept: true,
      storage: '/nonexistent',
      root: '/',
      created: new Date().toISOString(),
    },
  }
}

/** Starts a supervisor from its sources. It and its sentinel have exited when the test has finished. */
export async function startSupervisor(
  runner: Identity = ownIdentity(),
  runDirectory: string = temporaryDirectory(),
): Promise<StartedSupervisor> {
  const program = bundle('supervisor/main.ts', join(temporaryDirectory(), 'supervisor.cjs'))
  const run = newRecord(runner)
  writeRunRecord(runDirectory, run)
  const child = spawn(process.execPath, [program, 'serve', runDirectory], {
    cwd: '/',
    env: { CUSTODY_NAMESPACE: '', CUSTODY_WITNESS: process.env['CUSTODY_WITNESS'] },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const record = () => readRunRecord(runDirectory) as RunRecord
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    const { sentinel } = record()
    if (sentinel !== null) await observeExit(sentinel, Promise.resolve(), Deadline.after(20_000))
  })
  return { runDirectory, run, child, exited, record }
}
