import { sep } from 'node:path'
import { findLeft, type Left } from '../leaks/find-left.js'
import { platform } from '../platform/index.js'
import { withoutSecrets } from '../tree/without-secrets.js'
import type { Scope } from './scope.js'

/** An error of a user's code; runners hand it on in forms of their own. */
export interface UsersError {
  message: string
  stack?: string | undefined
}

/**
 * Adds to an error that a directory could not be removed who of this file still has something open there, or works there.
 * Any other error stays as it is.
 */
export function explainRemoval(scope: Scope, error: UsersError): void {
  const directory = unremovedBy(error)
  if (directory === null) return
  const writers = processesOf(scope).filter(({ identity, descendants }) =>
    [identity, ...descendants].some(({ pid }) => isIn(directory, pid)),
  )
  if (writers.length === 0) return
  const lines = writers.map(({ command, identity, namespace }) => {
    const starter = scope.books.starters.get(namespace) ?? scope
    return `  pid ${identity.pid}  ${withoutSecrets(command).join(' ')}   (started by ${starter.name})`
  })
  const text = ['It is still in use by a process that was started here:', ...lines].join('\n')
  const { message } = error
  error.message = `${message}\n${text}`
  if (typeof error.stack === 'string') error.stack = error.stack.replace(message, () => error.message)
}

/** The directory that could not be removed because something is still in it. */
function unremovedBy({ message }: UsersError): string | null {
  const [, path] = /^(?:ENOTEMPTY|EBUSY): .* '([^']+)'/.exec(message) ?? []
  return path ?? null
}

function processesOf(scope: Scope): Left[] {
  const file = scope.file ?? scope
  return findLeft(file.id, [...file.births, scope.birth], scope.run.runner)
}

function isIn(directory: string, pid: number): boolean {
  const { cwd } = platform.describeProcess(pid)
  return [cwd, ...platform.listOpen(pid).files].some((path) => path === directory || path?.startsWith(`${directory}${sep}`))
}
