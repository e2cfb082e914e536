import { basename } from 'node:path'
import picomatch from 'picomatch'
import type { TestAllowance } from '../options/options.js'

/** The first allowance that fits a command line, or null. A name spares here; nothing is ever selected by it. */
export function findAllowance<A extends TestAllowance>(command: readonly string[], allowances: readonly A[]): A | null {
  return allowances.find((each) => fits(command, each)) ?? null
}

function fits(command: readonly string[], { argv, match }: TestAllowance): boolean {
  if (argv !== undefined) return fitsGlobs(command, argv)
  // A search begins at the start each time, whatever its pattern remembers. It may be of another realm.
  return typeof match === 'function' ? match(command) : command.join(' ').search(match) >= 0
}

/** Each glob fits one argument, the first the program with or without its path; `**` at the end fits whatever follows. */
function fitsGlobs([program = '', ...rest]: readonly string[], argv: readonly string[]): boolean {
  const isOpen = argv.at(-1) === '**'
  const [first = '', ...globs] = isOpen ? argv.slice(0, -1) : argv
  if (isOpen ? rest.length < globs.length : rest.length !== globs.length) return false
  // A pattern of nothing is no glob.
  const isFit = (text: string, glob: string) =>
    text === glob || (glob !== '' && picomatch.isMatch(text, glob, { dot: true, bash: true }))
  if (argv.length === 1 && isOpen) return true
  return (isFit(program, first) || isFit(basename(program), first)) && globs.every((glob, at) => isFit(rest[at] ?? '', glob))
}
