import { basename, relative } from 'node:path'

/** What is known of a process that was left. */
export interface LeftRuntime {
  readonly command: readonly string[]
  readonly cwd: string | null
  /** Addresses of TCP sockets, and paths of others. */
  readonly listensOn: readonly string[]
}

/** Arguments of a command that is proposed as it is. */
const MAX_ARGUMENTS = 12
const MAX_LENGTH = 200

/** Options of Node that take the next argument. */
const TAKING_ONE = /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file)$/

/**
 * What to do about a leak, to be pasted.
 * @param kind of who has left it
 * @param root the project's root
 */
export function remediesFor(kind: string, left: LeftRuntime, root: string): string[] {
  // Never until 'scope': whatever does not end by itself would be alive after every run then, with all green.
  const declaration = `allow: [{ argv: [${globsFor(left.command).join(', ')}], reason: '…', until: 'run' }]`
  const start = `const ${variableFor(left)} = await custody.start({ ${specFor(left, root).join(', ')} })`
  return [
    kind === 'setup'
      ? '  end it in the teardown of that setup, or have it be one of the option `runtimes`'
      : `  start it with:  ${start}`,
    `  or declare it:  ${declaration}`,
  ]
}

function specFor(left: LeftRuntime, root: string): string[] {
  const { command, cwd, listensOn } = left
  const isShort = command.length > 0 && command.length <= MAX_ARGUMENTS && command.every((part) => part.length <= MAX_LENGTH)
  const socket = listensOn.find((address) => address.startsWith('/'))
  const isListening = listensOn.some((address) => !address.startsWith('/'))
  return [
    `name: ${quote(nameFor(left))}`,
    isShort ? `command: [${command.map(quote).join(', ')}]` : 'command: […]',
    ...(cwd === null || cwd === root ? [] : [`cwd: ${quote(relative(root, cwd))}`]),
    ...(isListening ? ["ports: ['http']", "ready: { port: 'http' }"] : []),
    ...(!isListening && socket !== undefined ? [`ready: { socket: ${quote(socket)} }`] : []),
  ]
}

/** A script is named by its file, any other program by itself. */
function nameFor({ command }: LeftRuntime): string {
  const script = command[scriptAt(command)]
  const named = script !== undefined && /^[\w./-]+\.\w+$/.test(script) ? script : (command[0] ?? '')
  return (
    basename(named)
      .replace(/\.\w+$/, '')
      .replace(/[^\w.-]/g, '-') || 'program'
  )
}

function variableFor(left: LeftRuntime): string {
  const words = nameFor(left)
    .split(/[^a-z0-9]+/i)
    .filter(Boolean)
  const name = words.map((word, at) => (at === 0 ? word : `${word[0]?.toUpperCase()}${word.slice(1)}`)).join('')
  return /^[a-z]/i.test(name) ? name : 'runtime'
}

/** Where the first argument is that is no option and belongs to none; the length of the command when there is none. */
function scriptAt(command: readonly string[]): number {
  for (let at = 1; at < command.length; at++) {
    const part = command[at] as string
    if (TAKING_ONE.test(part)) at++
    else if (!part.startsWith('-')) return at
  }
  return command.length
}

/** As narrow as it can be: up to the script, or all of a command that is told by an option, such as `sh -c`. */
function globsFor(command: readonly string[]): string[] {
  const [program = '', ...rest] = command
  const script = scriptAt(command)
  const isPlain = script === 1 && script < command.length
  const parts = isPlain ? rest.slice(0, 1) : rest.slice(0, MAX_ARGUMENTS)
  const isWhole = parts.length === rest.length && !isPlain
  return [basename(program), ...parts.map(globFor), ...(isWhole ? [] : ['**'])].map(quote)
}

/** A word fits itself, whatever signs it has; one that is too long is cut, and what has a meaning in a glob is escaped. */
function globFor(part: string): string {
  return part.length <= MAX_LENGTH ? part : `${part.slice(0, MAX_LENGTH / 2).replace(/[\\*?[\]{}()!+@|^$]/g, '\\$&')}*`
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`
}
