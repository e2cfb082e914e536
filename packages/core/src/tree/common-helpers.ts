import { basename } from 'node:path'
import type { Identity } from '@custody/runtime'
import { platform } from '../platform/index.js'

/** Each by its program and, where the program does other things too, by a word among its arguments. */
const helpers: readonly (readonly [program: RegExp, argument?: RegExp])[] = [
  [/^git$/, /^(?:maintenance|gc|fsmonitor--daemon|credential-cache--daemon)$/],
  [/^git-(?:maintenance|gc|fsmonitor--daemon|credential-cache--daemon)$/],
  [/^(?:gpg-agent|dirmngr|scdaemon|keyboxd)$/],
  [/^ssh-agent$/],
  // A shared connection calls itself `ssh: <socket> [mux]`.
  [/^ssh:/, /\[mux\]/],
  [/^watchman$/],
  [/^adb$/, /^fork-server$/],
]

/**
 * Whether a command is one of those that well-known tools leave running for themselves, for all projects of a user, or until their
 * own work is done. A name spares here; nothing is ever selected by it.
 */
export function isCommonHelper(command: readonly string[]): boolean {
  // Some write a title of several words over their arguments.
  const [program = '', ...words] = command.join(' ').split(' ')
  return helpers.some(
    ([name, argument]) => name.test(basename(program)) && (argument === undefined || words.some((word) => argument.test(word))),
  )
}

/** Those of the found that are left to themselves. */
export function findCommonHelpers(found: readonly Identity[]): Identity[] {
  return found.filter(({ pid }) => isCommonHelper(platform.readCommand(pid)))
}
