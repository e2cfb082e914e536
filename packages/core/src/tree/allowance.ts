import { basename } from 'node:path'
import type { Identity } from '@custody/runtime'
import picomatch from 'picomatch'
import type { Allowance } from '../options/options.js'
import { platform } from '../platform/index.js'

/** The first allowance that fits a command line, or null. A name spares here; nothing is ever selected by it. */
export function findAllowance(command: readonly string[], allowances: readonly Allowance[]): Allowance | null {
  return allowances.find(({ argv }) => fits(command, argv)) ?? null
}

/** Those of the found that no signal may go to. */
export function findAllowed(found: readonly Identity[], allowances: readonly Allowance[]): Identity[] {
  const isSpared = (command: readonly string[]) => {
    const allowance = findAllowance(command, allowances)
    return allowance !== null && allowance.until !== 'run'
  }
  return found.filter(({ pid }) => isSpared(platform.readCommand(pid)))
}

/** Each glob fits one argument, the first the program with or without its path; `**` at the end fits whatever follows. */
function fits([program = '', ...rest]: readonly string[], argv: readonly string[]): boolean {
  const isOpen = argv.at(-1) === '**'
  const [first = '', ...globs] = isOpen ? argv.slice(0, -1) : argv
  if (isOpen ? rest.length < globs.length : rest.length !== globs.length) return false
  const isFit = (text: string, glob: string) => text === glob || picomatch.isMatch(text, glob, { dot: true, bash: true })
  return (isFit(program, first) || isFit(basename(program), first)) && globs.every((glob, at) => isFit(rest[at] ?? '', glob))
}
