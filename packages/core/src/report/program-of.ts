import { basename } from 'node:path'

/** What reads a script. */
const INTERPRETER = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|(?:ba|da|z|k)?sh)$/
export const SHELL: RegExp = /^(?:ba|da|z|k)?sh$/
/** What finds a package, or a script of one, by its name. */
const LAUNCHER = /^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun)$/
const SUBCOMMAND = /^(?:exec|x|dlx|run|run-script)$/

/** Options of Node and Python that take the next argument. */
const TAKING_ONE = /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|-W|-X)$/
/** Options whose argument is the program's text. */
const TAKING_TEXT = /^(?:-e|-p|-pe|--eval|--print|-\w*c)$/

/** What a command runs, for people: the name of its script, module or package, or else of its program. */
export function programOf([first = '', ...rest]: readonly string[]): string {
  const program = stemOf(first)
  // A module of Python has its points for another reason.
  const module = program.startsWith('py') ? rest[rest.indexOf('-m') + 1 || rest.length] : undefined
  if (module !== undefined) return module
  const next = nextOf(program, rest)
  return next === null ? program : programOf(next)
}

/** The command line that a program runs in its place, or null. */
function nextOf(program: string, rest: readonly string[]): readonly string[] | null {
  if (LAUNCHER.test(program)) {
    const words = rest.slice(SUBCOMMAND.test(rest[0] ?? '') ? 1 : 0)
    const at = words.findIndex((word) => !word.startsWith('-'))
    return at < 0 ? null : words.slice(at)
  }
  if (!INTERPRETER.test(program)) return null
  const at = scriptAt(['', ...rest]) - 1
  const option = rest[at - 1] ?? ''
  if (at >= rest.length) return null
  if (!TAKING_TEXT.test(option)) return rest.slice(at)
  const words = wordsOf(rest[at] ?? '')
  return SHELL.test(program) && words.length > 0 ? words : null
}

/** The first command of a shell's text, without the variables before it. */
function wordsOf(text: string): string[] {
  const words = (/^[^&|;<>()`\n]*/.exec(text)?.[0] ?? '').split(' ').filter(Boolean)
  const at = words.findIndex((word) => word !== 'exec' && !/^\w+=/.test(word))
  return at < 0 ? [] : words.slice(at)
}

/** Where the first argument is that is no option and belongs to none; the length of the command when there is none. */
export function scriptAt(command: readonly string[]): number {
  const first = LAUNCHER.test(stemOf(command[0] ?? '')) && SUBCOMMAND.test(command[1] ?? '') ? 2 : 1
  for (let at = first; at < command.length; at++) {
    const part = command[at] as string
    if (TAKING_ONE.test(part)) at++
    else if (!part.startsWith('-')) return at
  }
  return command.length
}

/** A name without its directory, its ending, and its version. `npx-cli.js` is npx. */
function stemOf(path: string): string {
  return basename(path)
    .replace(/(?<=.)@.*$/, '')
    .replace(/(?<=.)\.[a-z]\w*$/i, '')
    .replace(/^(npm|npx|pnpm|yarn)-cli$/, '$1')
}
