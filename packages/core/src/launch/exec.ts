import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { CustodyError, clock } from '@custody/runtime/internals'
import { execa } from 'execa'
import { spawnedBy } from '../namespace/be-born.js'
import type { SpawnSite } from '../namespace/birth-state.js'
import { signalChild } from '../tree/send-signal.js'
import { withoutSecrets } from '../tree/without-secrets.js'
import { checkExec } from './check-exec.js'
import { endedBy } from './ended-by.js'
import { OutputCollector } from './output-collector.js'
import { withNodesAbort } from './with-nodes-abort.js'

export interface ExecOptions {
  /** Text for the command's standard input. @default none: it reads the end at once */
  input?: string
  /** Relative to the project's root. @default the project's root */
  cwd?: string
  /** On top of the test's environment and the namespace's; `undefined` removes a variable. */
  env?: Readonly<Record<string, string | undefined>>
  /** Ends the command after this many milliseconds. @default none */
  timeout?: number
  /** Whether a failure rejects. @default true */
  reject?: boolean
}

export interface ExecResult {
  readonly stdout: string
  readonly stderr: string
  /** Both, in the order of their arrival. */
  readonly all: string
  /** Null when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  readonly durationMs: number
}

/** Where a command runs, and for whom. */
interface ExecContext {
  /** Where it runs by default. */
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The line of the call: what the command leaves is reported there. */
  readonly site: SpawnSite
  readonly signal?: AbortSignal
}

/** Time between TERM and KILL for a command that ran out of time, in milliseconds. */
const FORCE_AFTER_MS = 1_000

/** Node takes a longer time for none. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Runs a command to its own end, and not to that of what it leaves behind: a daemon that holds its output does not hold the caller.
 *
 * @throws CUSTODY_COMMAND_FAILED when it exits with another code than 0, by a signal, or out of time, unless `reject` is false
 * @throws CUSTODY_COMMAND_NOT_STARTED
 * @throws CUSTODY_INVALID_OPTION
 */
export async function exec(
  file: string,
  args: readonly string[],
  options: ExecOptions,
  context: ExecContext,
): Promise<ExecResult> {
  checkExec(file, args, options)
  const { input, reject = true, timeout = 0 } = options
  const { signal: over, site } = context
  const cwd = resolve(context.root, options.cwd ?? '')
  const env = { ...context.env, ...options.env }
  const begun = clock.now()
  const start = () =>
    execa(file, [...args], {
      cwd,
      env,
      extendEnv: false,
      preferLocal: true,
      localDir: cwd,
      buffer: false,
      reject: false,
      cleanup: true,
      ...(input === undefined ? { stdin: 'ignore' } : { input }),
    })
  const subprocess = spawnedBy(site, () => withNodesAbort(start))
  // Its promise never rejects, and waits for the end of the output, which a daemon may hold for ever.
  const output = new OutputCollector(subprocess.stdout, subprocess.stderr)

  let timedOut = false
  let isOverdue = false
  const end = () => {
    const isSent = signalChild('SIGTERM', subprocess)
    clock.setTimeout(() => signalChild('SIGKILL', subprocess), FORCE_AFTER_MS).unref()
    return isSent
  }
  over?.addEventListener('abort', () => {
    isOverdue = end()
  })
  const timer =
    timeout > 0
      ? clock.setTimeout(
          () => {
            timedOut = end()
          },
          Math.min(timeout, LONGEST_MS),
        )
      : undefined
  const ended = await new Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }>((resolve, fail) => {
    subprocess.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    subprocess.once('error', (cause) => fail(notStarted(file, args, cwd, cause)))
    // Of some failures, as of an argument that is too long, only its promise tells: there was no process that could.
    if (subprocess.pid === undefined) void subprocess.then(({ cause }) => fail(notStarted(file, args, cwd, cause as Error)))
  }).finally(() => clock.clearTimeout(timer))
  await output.drain()

  const result: ExecResult = { ...output.texts(), ...ended, timedOut, durationMs: Math.round(clock.now() - begun) }
  if (isOverdue) throw failed(file, args, result, `its ${endedBy(over as AbortSignal)} ended before it`)
  if (reject && (result.exitCode !== 0 || timedOut)) throw failed(file, args, result)
  return result
}

function notStarted(file: string, args: readonly string[], cwd: string, cause: Error): CustodyError {
  const { code } = cause as NodeJS.ErrnoException
  const shown = withoutSecrets([file, ...args])
  // Node's error has them too, and a runner prints whatever an error has.
  if ('spawnargs' in cause) cause.spawnargs = shown.slice(1)
  return new CustodyError(
    'CUSTODY_COMMAND_NOT_STARTED',
    `Could not start ${shown.join(' ')} in ${cwd}: ${code ?? cause.message}.`,
    {
      hint:
        code === 'ENOENT' && /\s/.test(file) && existsSync(cwd)
          ? `the program is "${file}" here: give its arguments as the second parameter, a list.`
          : 'check the command, its directory and PATH.',
      facts: { file, args: shown.slice(1), cwd, code },
      cause,
    },
  )
}

function failed(file: string, args: readonly string[], result: ExecResult, reason?: string): CustodyError {
  const { all, durationMs, exitCode, signal, timedOut } = result
  const how =
    reason ??
    (timedOut
      ? `it ran out of time after ${durationMs} ms`
      : signal
        ? `it was ended by ${signal}`
        : `it exited with code ${exitCode}`)
  const shown = withoutSecrets([file, ...args])
  const tail = all.trimEnd().split('\n').slice(-20).join('\n')
  return new CustodyError('CUSTODY_COMMAND_FAILED', `Could not run ${shown.join(' ')}: ${how}.${tail && `\n${tail}`}`, {
    hint: 'see its output above; reject: false gives the result instead.',
    facts: { file, args: shown.slice(1), ...result },
  })
}
