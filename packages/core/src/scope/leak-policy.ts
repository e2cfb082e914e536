import { isAbsolute, resolve, sep } from 'node:path'
import picomatch from 'picomatch'
import type { LeakPolicy } from '../options/options.js'
import type { Scope } from './scope.js'

/** What happens to what the tests of a file leave: as the file says itself, or the last override that fits it, or the options. */
export function leakPolicyOf(scope: Scope): LeakPolicy {
  const file = scope.file ?? scope
  const { options, root } = scope.run
  const { leaks, overrides } = options
  return scope.books.leaks ?? overrides.findLast(({ files }) => isMatch(file, files, root))?.leaks ?? leaks
}

/** Options of the root may be meant for one of its projects, and those of a project are written where it is. */
function isMatch({ path, pathInProject }: Scope, globs: readonly string[], root: string): boolean {
  return globs.some((glob) => {
    // What stands before a glob of the run is a path, whatever signs it has.
    const below = `${root}${sep}`
    const own = glob.startsWith(below) ? glob.slice(below.length) : glob
    const paths = isAbsolute(own) ? [resolve(root, path).replaceAll(sep, '/')] : [pathInProject, path]
    return paths.some((each) => picomatch.isMatch(each, own, { dot: true }))
  })
}
