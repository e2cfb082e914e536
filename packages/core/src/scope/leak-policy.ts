import picomatch from 'picomatch'
import type { LeakPolicy } from '../options/options.js'
import type { Scope } from './scope.js'

/** What happens to what the tests of a file leave: as the file says itself, or the last override that fits it, or the options. */
export function leakPolicyOf(scope: Scope): LeakPolicy {
  const file = scope.file ?? scope
  const { leaks, overrides } = scope.run.options
  return scope.books.leaks ?? overrides.findLast(({ files }) => isMatch(file, files))?.leaks ?? leaks
}

/** Options of the root may be meant for one of its projects, and those of a project are written where it is. */
function isMatch({ path, pathInProject }: Scope, globs: readonly string[]): boolean {
  return [pathInProject, path].some((each) => picomatch.isMatch(each, [...globs], { dot: true }))
}
