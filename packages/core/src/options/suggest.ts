import { closest, distance } from 'fastest-levenshtein'

/** What to do about a name that there is not: the one that was probably meant, or all that there are. */
export function suggest(name: string, known: readonly string[], path: readonly string[] = []): string {
  const nearest = closest(name, known)
  const isNear = distance(name.toLowerCase(), nearest.toLowerCase()) <= Math.max(2, name.length / 3)
  return isNear ? `did you mean ${[...path, nearest].join('.')}?` : `choose one of ${known.join(', ')}.`
}
