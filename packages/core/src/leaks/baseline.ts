import { basename } from 'node:path'

/** What tells a leak from others, the same on each machine: there is neither a number nor a path of one in it. */
export interface LeakSignature {
  /** The name of the project; empty where there is only one. */
  readonly project: string
  /** Relative to the project's root; empty for what belongs to no file. */
  readonly file: string
  /** The titles of the test and of what stands around it; empty for the file itself. */
  readonly test: string
  readonly argv: readonly string[]
}

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
  return baseline !== null && (baseline.isUpdated || baseline.leaks.some((each) => isSameLeak(each, leak)))
}

/** The known leaks that are fixed: their tests have passed without them, or their files are gone. */
export function findFixed(
  { leaks }: Baseline,
  found: readonly LeakSignature[],
  judged: readonly JudgedFile[],
  fileExists: (file: string) => boolean,
): LeakSignature[] {
  return leaks.filter((leak) => {
    if (found.some((each) => isSameLeak(each, leak))) return false
    // What belongs to no file is looked for in each run.
    if (leak.file === '' || !fileExists(leak.file)) return true
    const own = judged.filter(({ file, project }) => file === leak.file && project === leak.project)
    return own.some(({ isWhole, passed }) => isWhole || (leak.test !== '' && passed.includes(leak.test)))
  })
}

/** The list with what was found, each once and in order, and without what was fixed. */
export function updated(
  leaks: readonly LeakSignature[],
  found: readonly LeakSignature[],
  fixed: readonly LeakSignature[],
): LeakSignature[] {
  const rest = leaks.filter((leak) => !fixed.some((each) => isSameLeak(each, leak)))
  const byKey = new Map([...rest, ...found].map((leak) => [keyOf(leak), leak]))
  return [...byKey.values()].sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1))
}

/** A command line without what changes from one machine, or from one run, to the next. */
export function normalizeCommand([program = '', ...rest]: readonly string[], root: string): string[] {
  return [basename(program), ...rest].map((part) =>
    part
      .replaceAll(root, '<root>')
      .replace(/(^|[\s=:,'"(])(?:[A-Za-z]:\\|\/)[^\s,'")]*/g, '$1<path>')
      .replace(/(?<!\w)(?=[a-f-]*\d)[\da-f][\da-f-]{7,}(?!\w)/gi, '<id>')
      .replace(/\d{2,}/g, '<n>'),
  )
}

function isSameLeak(a: LeakSignature, b: LeakSignature): boolean {
  return keyOf(a) === keyOf(b)
}

function keyOf({ argv, file, project, test }: LeakSignature): string {
  return JSON.stringify([project, file, test, argv])
}

/** A test comes before those whose titles go on where its own ends. */
function sortKeyOf({ argv, file, project, test }: LeakSignature): string {
  return [project, file, test, ...argv].join('\0')
}
