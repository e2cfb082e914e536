import { basename } from 'node:path'

/** Each by its program and, where the program does other things too, by a word among its arguments. */
type Helper = readonly [program: RegExp, argument?: RegExp]

/** They end when their work is done. */
const workers: readonly Helper[] = [[/^git$/, /^(?:maintenance|gc)$/], [/^git-(?:maintenance|gc)$/]]

/** They stay until somebody ends them, or nobody has asked them for long. */
const residents: readonly Helper[] = [
  [/^git$/, /^(?:fsmonitor--daemon|credential-cache--daemon)$/],
  [/^git-(?:fsmonitor--daemon|credential-cache--daemon)$/],
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
  return isEndingHelper(command) || residents.some((helper) => isHelper(command, helper))
}

/** Whether it is one that ends when its work is done: worth waiting for. */
export function isEndingHelper(command: readonly string[]): boolean {
  return workers.some((helper) => isHelper(command, helper))
}

function isHelper([program = '', ...words]: readonly string[], [name, argument]: Helper): boolean {
  return name.test(basename(program)) && (argument === undefined || words.some((word) => argument.test(word)))
}
