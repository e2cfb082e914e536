import { basename } from 'node:path'
import { withoutSecrets } from '../tree/without-secrets.js'

/** What tells a leak from others, the same on each machine: there is neither a number nor a path of one in it, and no secret. */
export interface LeakSignature {
  /** The name of the project; empty where there is only one. */
  readonly project: string
  /** Relative to the run's root; empty for what belongs to no file. */
  readonly file: string
  /** The titles of the test and of what stands around it; empty for the file itself. */
  readonly test: string
  readonly argv: readonly string[]
}

/** The signature of something that was left. @param root the run's root */
export function signatureOf(
  { project, file, test }: Omit<LeakSignature, 'argv'>,
  command: readonly string[],
  root: string,
): LeakSignature {
  return { project, file, test: normalizeTitle(test, root), argv: normalizeCommand(command, root) }
}

/** A command line without what changes from one machine, or from one run, to the next. */
export function normalizeCommand(command: readonly string[], root: string): string[] {
  const [program = '', ...rest] = withoutSecrets(command, '<secret>')
  return [basename(program), ...rest.map((part) => normalizeTitle(part, root).replace(/\d+/g, '<n>'))]
}

/** A title, or a part of a command, without paths of this machine, and without names that were made up for one run. */
export function normalizeTitle(text: string, root: string): string {
  return text
    .replaceAll(root, '<root>')
    .replace(/(^|[\s=:,'"(])(?:[A-Za-z]:\\|\/)[^\s,'")]*/g, '$1<path>')
    .replace(/(?<!\w)(?=[a-f-]*\d)[\da-f][\da-f-]{7,}(?!\w)/gi, '<id>')
    .replace(/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{12,}(?![\w-])/g, '<id>')
}

/** The same text for two that are the same. */
export function keyOf({ argv, file, project, test }: LeakSignature): string {
  return JSON.stringify([project, file, test, argv])
}
