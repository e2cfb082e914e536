// PostgreSQL refuses to run as root. In a container tests often do.
import { execFileSync } from 'node:child_process'
import { basename, dirname, join } from 'node:path'

const isRoot = process.getuid?.() === 0
/** `nobody` on most systems; no such user need exist. */
const USER = '65534'

/** The command, run by somebody else where this is root. */
export function unprivileged(command) {
  return isRoot ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', ...command] : command
}

/** Gives a new directory to whom `unprivileged` runs as, with the programs in it: they may lie where only root gets. */
export function makeReachable(directory, program) {
  if (!isRoot) return
  execFileSync('cp', ['-a', dirname(dirname(program)), join(directory, 'native')])
  execFileSync('chown', ['-R', `${USER}:${USER}`, directory])
}

/** Where a program is that `makeReachable` has put there. */
export function reachable(directory, program) {
  return isRoot ? join(directory, 'native/bin', basename(program)) : program
}
