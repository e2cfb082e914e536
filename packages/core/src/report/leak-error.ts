import { basename, relative, sep } from 'node:path'
import { CustodyError, ownIdentity, readOrNull } from '@custody/runtime/internals'
import { LogFile } from '../launch/log-file.js'
import type { Left } from '../leaks/find-left.js'
import type { ResolvedOptions } from '../options/options.js'
import { type ProcessDescription, platform } from '../platform/index.js'
import { withoutSecrets } from '../tree/without-secrets.js'
import { remediesFor } from './leak-remedies.js'
import type { Listener } from './port-of.js'
import { leadTo } from './stack-of-site.js'
import type { Starter } from './starter.js'
import { grouped, printable } from './words.js'

/** Arguments that are shown of a command. */
const MAX_ARGUMENTS = 12
/** Lines that are shown of its output. */
const MAX_LINES = 5
/** Processes that are shown below it. */
const MAX_DESCENDANTS = 5
/** Of so many it is asked where they listen. */
const MAX_ASKED = 20

/** What is told of a process that was left. */
export type LeftProcess = Pick<Left, 'command' | 'descendants' | 'identity' | 'isLate' | 'isSignalled' | 'site'>

/** What is needed to know of the run. */
export interface LeakContext {
  readonly options: Pick<ResolvedOptions, 'explain' | 'timeouts'>
  /** The run's root, and the project's. */
  readonly root: string
  readonly projectRoot: string
}

/** The error that a process is to who has left it. */
export function leakError(left: LeftProcess, starter: Starter, { options, projectRoot, root }: LeakContext): CustodyError {
  const { command, identity, isLate, isSignalled, site } = left
  const { pid } = identity
  const described = lookAt(pid)
  const below = left.descendants.slice(0, MAX_ASKED).map((each) => lookAt(each.pid))
  const shown = withoutSecrets(command)
  const rest = command.length > MAX_ARGUMENTS ? ' …' : ''
  const error = new CustodyError(
    'CUSTODY_LEAK',
    [
      isLate
        ? 'A process that code of a test started after its end is still alive.'
        : `A process that this ${wordFor(starter.kind)} started is still alive.`,
      `  pid ${pid}  ${shownArguments(shown) || '(no command line)'}${rest}   (${factsOf(described, root).join(', ')})`,
      `  started by ${starter.name}`,
      ...(isSignalled ? [signalled(starter.kind, options.timeouts.exitMs)] : []),
      ...parentageOf(described),
      ...descendantsOf(left, below),
      ...lastLinesOf(described),
      ...(options.explain ? openThingsOf(pid) : []),
      ...remediesFor(starter.kind, { ...described, command, below }, projectRoot),
    ].join('\n'),
    { hint: hintFor(starter.kind, isSignalled), facts: { pid, command: shown, startedBy: starter.name } },
  )
  error.name = 'CustodyLeakError'
  // Who has left a daemon behind has ended; its line is one of those of its test.
  leadTo(site ?? starter.sites[0], error)
  return error
}

interface Seen extends ProcessDescription, Listener {
  readonly pid: number
}

function lookAt(pid: number): Seen {
  const variable = platform.readInitialVariable(pid, 'PORT')
  const portVariable = typeof variable === 'string' ? null : variable.value
  return { pid, ...platform.describeProcess(pid), command: platform.readCommand(pid), portVariable }
}

function wordFor(kind: string): string {
  if (kind === 'setup') return 'global setup'
  return kind === 'test' || kind === 'run' ? kind : 'file'
}

/** Who waits for its exit has done all that there is to do: some take their time to leave. */
function signalled(kind: string, exitMs: number): string {
  const who = kind === 'setup' ? 'the global setup' : `its ${wordFor(kind)}`
  return `  ${who} has sent it a signal, and Custody has waited ${grouped(exitMs)} ms for its exit`
}

function hintFor(kind: string, isSignalled: boolean): string {
  if (isSignalled) return 'await its exit where it is sent the signal, raise timeouts.exitMs, or do one of these.'
  return kind === 'setup' ? 'do one of these.' : 'stop it in the test or in its finalizers, or do one of these.'
}

function factsOf({ ageMs, cwd, listensOn }: ProcessDescription, root: string): string[] {
  return [
    ...(ageMs === null ? [] : [`${(ageMs / 1_000).toFixed(1)} s old`]),
    ...listensOn.map((address) => `listens on ${address}`),
    ...(cwd === null ? [] : [`cwd ${cwd.startsWith(`${root}${sep}`) ? relative(root, cwd) : cwd}`]),
  ]
}

/** Said where it is not the child of the process that looks. */
function parentageOf({ parent }: ProcessDescription): string[] {
  if (parent === null || parent === ownIdentity().pid) return []
  const [program = ''] = platform.readCommand(parent)
  const who = `pid ${parent}${program && ` (${basename(program)})`}`
  return [parent === 1 ? `  its parent has exited: it is a child of ${who} now` : `  it is a child of ${who}`]
}

/** A shell is often not what matters. */
function descendantsOf({ descendants }: LeftProcess, below: readonly Seen[]): string[] {
  const shown = below.slice(0, MAX_DESCENDANTS).map(({ command, listensOn, pid }) => {
    const where = listensOn.length === 0 ? '' : `   (listens on ${listensOn.join(', ')})`
    return `    pid ${pid}  ${shownArguments(withoutSecrets(command))}${where}`
  })
  const more = descendants.length - shown.length
  return shown.length === 0 ? [] : ['  below it:', ...shown, ...(more > 0 ? [`    and ${grouped(more)} more`] : [])]
}

function lastLinesOf({ output }: ProcessDescription): string[] {
  const text = output === null ? '' : (readOrNull(() => new LogFile(output.readable).tail(MAX_LINES)) ?? '')
  if (output === null || text === '') return []
  return [`  last lines of ${output.path}:`, ...text.split('\n').map((line) => `    ${shorten(line)}`)]
}

function openThingsOf(pid: number): string[] {
  const { files, sockets } = platform.listOpen(pid)
  return [
    ...(files.length === 0 ? [] : ['  open files:', ...files.map((path) => `    ${path}`)]),
    ...(sockets.length === 0 ? [] : ['  sockets:', ...sockets.map((socket) => `    ${socket}`)]),
  ]
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** The arguments of a command that are shown: a title may have anything in it. */
function shownArguments(command: readonly string[]): string {
  return command
    .slice(0, MAX_ARGUMENTS)
    .map((part) => printable(shorten(part)))
    .join(' ')
}
