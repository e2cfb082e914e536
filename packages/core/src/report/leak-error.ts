import { basename, relative, sep } from 'node:path'
import { CustodyError, ownIdentity, readOrNull } from '@custody/runtime/internals'
import { LogFile } from '../launch/log-file.js'
import type { Left } from '../leaks/find-left.js'
import type { ResolvedOptions } from '../options/options.js'
import { type ProcessDescription, platform } from '../platform/index.js'
import { leadTo } from './stack-of-site.js'
import type { Starter } from './starter.js'

/** Arguments that are shown of a command. */
const MAX_ARGUMENTS = 12
/** Lines that are shown of its output. */
const MAX_LINES = 5

/** What is told of a process that was left. */
export type LeftProcess = Pick<Left, 'command' | 'descendants' | 'identity' | 'isLate' | 'site'>

/** What is needed to know of the run. */
export interface LeakContext {
  readonly options: Pick<ResolvedOptions, 'explain'>
  /** The project's root. */
  readonly root: string
}

/** The error that a process is to who has left it. */
export function leakError(left: LeftProcess, starter: Starter, { options, root }: LeakContext): CustodyError {
  const { command, identity, isLate, site } = left
  const { pid } = identity
  const described = platform.describeProcess(pid)
  const shown = command.slice(0, MAX_ARGUMENTS).map(shorten)
  const rest = command.length > MAX_ARGUMENTS ? ' …' : ''
  const error = new CustodyError(
    'CUSTODY_LEAK',
    [
      isLate
        ? 'A process that code of a test started after its end is still alive.'
        : `A process that this ${wordFor(starter.kind)} started is still alive.`,
      `  pid ${pid}  ${shown.join(' ') || '(no command line)'}${rest}   (${factsOf(left, described, root).join(', ')})`,
      `  started by ${starter.name}`,
      ...parentageOf(described),
      ...lastLinesOf(described),
      ...(options.explain ? openThingsOf(pid) : []),
      `  start it with:  await custody.start({ ${specFor(command, described).join(', ')} })`,
      `  or declare it:  allow: [{ argv: [${globsFor(command).join(', ')}], reason: '…', until: 'scope' }]`,
    ].join('\n'),
    { hint: 'stop it in the test or in its finalizers, or do one of these.', facts: { pid, command, startedBy: starter.name } },
  )
  error.name = 'CustodyLeakError'
  // Who has left a daemon behind has ended; its line is one of those of its test.
  leadTo(site ?? starter.sites[0], error)
  return error
}

function wordFor(kind: string): string {
  return kind === 'test' || kind === 'run' ? kind : 'file'
}

function factsOf({ descendants }: LeftProcess, { ageMs, cwd, listensOn }: ProcessDescription, root: string): string[] {
  return [
    ...(ageMs === null ? [] : [`${(ageMs / 1_000).toFixed(1)} s old`]),
    ...listensOn.map((address) => `listens on ${address}`),
    ...(cwd === null ? [] : [`cwd ${cwd.startsWith(`${root}${sep}`) ? relative(root, cwd) : cwd}`]),
    ...(descendants.length === 0 ? [] : [`with ${descendants.map((each) => `pid ${each.pid}`).join(', ')} below it`]),
  ]
}

/** Said where it is not the child of the process that looks. */
function parentageOf({ parent }: ProcessDescription): string[] {
  if (parent === null || parent === ownIdentity().pid) return []
  const [program = ''] = platform.readCommand(parent)
  const who = `pid ${parent}${program && ` (${basename(program)})`}`
  return [parent === 1 ? `  its parent has exited: it is a child of ${who} now` : `  it is a child of ${who}`]
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

/** What `custody.start` would have to be given; a command that is too long to be shown is the reader's to fill in. */
function specFor(command: readonly string[], { listensOn }: ProcessDescription): string[] {
  const isShort = command.length > 0 && command.length <= MAX_ARGUMENTS && command.every((part) => shorten(part) === part)
  // A script is named by its file, any other program by itself.
  const named = command.find((part, at) => at > 0 && /^[\w./-]+\.\w+$/.test(part)) ?? command[0] ?? 'program'
  const name = basename(named).replace(/\.\w+$/, '')
  return [
    `name: ${quote(name.replace(/[^\w.-]/g, '-') || 'program')}`,
    isShort ? `command: [${command.map(quote).join(', ')}]` : 'command: […]',
    ...(listensOn.length > 0 ? ["ports: ['http']", "ready: { port: 'http' }"] : []),
  ]
}

function globsFor(command: readonly string[]): string[] {
  const parts = command.slice(0, 2).map((part, at) => quote(at === 0 ? basename(part) : shorten(part).replace('…', '*')))
  return [...parts, quote('**')]
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
