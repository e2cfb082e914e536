import { keyOf, type LeakSignature } from './signature.js'

/** The leaks that a suite had when it came under custody. They act as with `leaks: 'warn'`. */
export interface Baseline {
  /** Whether it is being written: then whatever is found is known from now on. */
  readonly isUpdated: boolean
  readonly leaks: readonly LeakSignature[]
}

/** What a file came to, for those of its known leaks that are there no more. */
export interface JudgedFile {
  readonly project: string
  readonly file: string
  /** Those of its tests that have passed. */
  readonly passed: readonly string[]
  /** Whether all of them have, so that nothing of the file was left out. */
  readonly isWhole: boolean
}

export function isKnown(leak: LeakSignature, baseline: Baseline | null): boolean {
  const key = keyOf(leak)
  return baseline !== null && (baseline.isUpdated || baseline.leaks.some((each) => keyOf(each) === key))
}

/** The known leaks that are not there any more: their tests have passed without them, or their files are gone. */
export function findFixed(
  { leaks }: Baseline,
  found: readonly LeakSignature[],
  judged: readonly JudgedFile[],
  fileExists: (file: string) => boolean,
): LeakSignature[] {
  const keys = new Set(found.map(keyOf))
  const whole = new Set<string>()
  const passed = new Set<string>()
  for (const { file, isWhole, passed: tests, project } of judged) {
    if (isWhole) whole.add(JSON.stringify([project, file]))
    for (const test of tests) passed.add(JSON.stringify([project, file, test]))
  }
  return leaks.filter((leak) => {
    const { file, project, test } = leak
    if (keys.has(keyOf(leak))) return false
    // What belongs to no file is looked for in each run.
    if (file === '' || !fileExists(file)) return true
    return whole.has(JSON.stringify([project, file])) || (test !== '' && passed.has(JSON.stringify([project, file, test])))
  })
}

/** The list with what was found, each once and in order, and without what was fixed. */
export function updated(
  leaks: readonly LeakSignature[],
  found: readonly LeakSignature[],
  fixed: readonly LeakSignature[],
): LeakSignature[] {
  const gone = new Set(fixed.map(keyOf))
  const rest = leaks.filter((leak) => !gone.has(keyOf(leak)))
  const sorted = [...new Map([...rest, ...found].map((leak) => [keyOf(leak), leak])).values()].map(
    (leak) => [sortKeyOf(leak), leak] as const,
  )
  return sorted.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, leak]) => leak)
}

/** A test comes before those whose titles go on where its own ends. */
function sortKeyOf({ argv, file, project, test }: LeakSignature): string {
  return [project, file, test, ...argv].join('\0')
}
