import { basename, relative, sep } from 'node:path'
import { withoutSecrets } from '../tree/without-secrets.js'
import { endOf, isPath, type Listener, type Port, portOf } from './port-of.js'
import { programOf, SHELL } from './program-of.js'
import { printable, quoted } from './words.js'

/** What is known of a process that was left. */
export interface LeftRuntime extends Listener {
  readonly cwd: string | null
  /** Those below it. */
  readonly below: readonly Listener[]
}

/** Arguments of a command that is proposed as it is. */
const MAX_ARGUMENTS = 12
const MAX_LENGTH = 200

/** The call that starts what was left in the way that Custody does, to be pasted. @param root the project's root */
export function proposeStart(left: LeftRuntime, root: string): string {
  const port = portOf(left, left.below)
  const name = nameFor(left)
  const { cwd } = left
  const spec = [
    `name: ${quoted(name)}`,
    `command: ${commandFor(fromHere(left.command, cwd ?? root, root), port)}`,
    ...(cwd === null || cwd === root ? [] : [`cwd: ${quoted(relative(root, cwd))}`]),
    ...readyFor(left, port),
  ]
  const remark = port?.from === 'system' ? '   // it is to listen on process.env.PORT' : ''
  return `const ${variableFor(name)} = await custody.start({ ${spec.join(', ')} })${remark}`
}

/** With the files of the project by their ways from where it runs: it stands elsewhere on another machine. */
function fromHere([program = '', ...args]: readonly string[], cwd: string, root: string): string[] {
  return [program, ...args.map((part) => (part.startsWith(`${root}${sep}`) ? relative(cwd, part) : part))]
}

function commandFor(command: readonly string[], port: Port | null): string {
  const words = typedFor(withoutSecrets(command))
  const isShort = words.length > 0 && words.length <= MAX_ARGUMENTS && words.every((part) => part.length <= MAX_LENGTH)
  const isGiven = port?.from === 'argument'
  const list = isShort
    ? `[${words.map((part, at) => (isGiven && at > 0 ? withPort(part, port) : quoted(part))).join(', ')}]`
    : '[…]'
  return isGiven ? `({ ports }) => ${list}` : list
}

/** npm tells by its title what it was asked for, and that is no command line: options would be its own. */
function typedFor(command: readonly string[]): readonly string[] {
  const [program, what = '', script = '', ...rest] = command
  if (program !== 'npm') return command
  if (what === 'exec') return ['npx', ...command.slice(2)]
  return what === 'run' && rest.length > 0 && rest[0] !== '--' ? [program, what, script, '--', ...rest] : command
}

/** Wherever the port was, there stands the one that is reserved. */
function withPort(part: string, { number }: Port): string {
  const before = endOf(part, number)
  if (before === null) return quoted(part)
  const text = printable(before.replace(/[\\`]|\$(?=\{)/g, '\\$&'))
  return before === '' ? 'String(ports.http)' : `\`${text}\${ports.http}\``
}

/** A port of the program's own is asked for by its number: nobody here knows how to give it another one. */
function readyFor({ below, listensOn }: LeftRuntime, port: Port | null): string[] {
  if (port?.from === 'program') return [`ready: { http: 'http://${port.host}:${port.number}/' }`]
  if (port !== null) return ["ports: ['http']", "ready: { port: 'http' }"]
  const socket = [listensOn, ...below.map((each) => each.listensOn)].flat().find((address) => address.startsWith('/'))
  return socket === undefined ? [] : [`ready: { socket: ${quoted(socket)} }`]
}

/** A shell is named by whoever listens below it. */
function nameFor({ below, command }: LeftRuntime): string {
  const listener = below.find(({ listensOn }) => listensOn.some((address) => !isPath(address)))
  const isShell = SHELL.test(basename(command[0] ?? ''))
  const program = programOf(isShell && listener !== undefined ? listener.command : command)
  return program.replace(/[^\w.-]/g, '-').slice(0, 64) || 'program'
}

function variableFor(program: string): string {
  const words = program.split(/[^a-z0-9]+/i).filter(Boolean)
  const name = words.map((word, at) => (at === 0 ? word : `${word[0]?.toUpperCase()}${word.slice(1)}`)).join('')
  return /^[a-z]/i.test(name) ? name : 'runtime'
}
