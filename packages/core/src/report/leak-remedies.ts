import { basename, relative, sep } from 'node:path'
import { withoutSecrets } from '../tree/without-secrets.js'
import { scriptAt } from './program-of.js'
import { type LeftRuntime, proposeStart } from './start-proposal.js'
import { quoted } from './words.js'

/** Arguments of a command that is declared as it is. */
const MAX_ARGUMENTS = 12
const MAX_LENGTH = 200
/** Stands for a secret: no argument has this sign. */
const ANYTHING = '\0'

/**
 * What to do about a leak, to be pasted.
 * @param kind of who has left it
 * @param root the project's root
 */
export function remediesFor(kind: string, left: LeftRuntime, root: string): string[] {
  // Never until 'scope': whatever does not end by itself would be alive after every run then, with all green.
  const declaration = `allow: [{ argv: [${globsFor(left.command, root).join(', ')}], reason: '…', until: 'run' }]`
  return [
    kind === 'setup'
      ? '  end it in the teardown of that setup, or have it be one of the option `runtimes`'
      : `  start it with:  ${proposeStart(left, root)}`,
    `  or declare it:  ${declaration}`,
  ]
}

/** As narrow as it can be: up to the script, or all of a command that is told by an option, such as `sh -c`. */
function globsFor(command: readonly string[], root: string): string[] {
  const [program = '', ...rest] = withoutSecrets(command, ANYTHING)
  const script = scriptAt(command)
  const isPlain = script < command.length && rest.slice(0, script).every((part) => !part.startsWith('-'))
  const parts = isPlain ? rest.slice(0, script) : rest.slice(0, MAX_ARGUMENTS)
  const isWhole = parts.length === rest.length && !isPlain
  return [basename(program), ...parts.map((part) => globFor(part, root)), ...(isWhole ? [] : ['**'])].map(quoted)
}

/**
 * A word fits itself, whatever signs it has. One that is too long is cut, and any text fits in the place of a secret: what has a meaning in
 * a glob is escaped then.
 */
function globFor(part: string, root: string): string {
  // The project stands elsewhere on another machine.
  if (part.startsWith(`${root}${sep}`)) return `**/${escaped(relative(root, part).replaceAll(sep, '/'))}`
  if (part.length <= MAX_LENGTH && !part.includes(ANYTHING)) return part
  const isCut = part.length > MAX_LENGTH
  const shown = isCut ? `${part.slice(0, MAX_LENGTH / 2)}${ANYTHING}` : part
  return escaped(shown).replaceAll(ANYTHING, '*')
}

function escaped(text: string): string {
  return text.replace(/[\\*?[\]{}()!|^$]/g, '\\$&')
}
