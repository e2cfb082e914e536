/** A path of a configuration, whose `<rootDir>` is this directory. */
export function inRoot(path: string, rootDir: string): string {
  // A function: in a text a `$` of the directory would have a meaning.
  return path.replace(/^<rootDir>/, () => rootDir)
}
