import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CustodyError } from '@custody/runtime/internals'
import * as z from 'zod'
import type { Baseline } from '../leaks/baseline.js'
import type { LeakSignature } from '../leaks/signature.js'

export const BASELINE_FILE = 'custody-baseline.json'

const schema = z.strictObject({
  version: z.literal(1),
  leaks: z.array(z.strictObject({ project: z.string(), file: z.string(), test: z.string(), argv: z.array(z.string()) })),
})

/**
 * The baseline of a project, or null when it has none.
 * @param root the run's root
 * @throws CUSTODY_INVALID_OPTION for a file that is none, or a CUSTODY_BASELINE that there is not
 */
export function readBaseline(root: string, env: Readonly<Record<string, string | undefined>> = process.env): Baseline | null {
  const wanted = env['CUSTODY_BASELINE'] || null
  if (wanted !== null && wanted !== 'ignore' && wanted !== 'update') throw wrongVariable(wanted)
  const path = join(root, BASELINE_FILE)
  const isUpdated = wanted === 'update'
  if (wanted === 'ignore') return null
  if (!existsSync(path)) return isUpdated ? { isUpdated, leaks: [] } : null
  try {
    return { isUpdated, leaks: schema.parse(JSON.parse(readFileSync(path, 'utf8'))).leaks }
  } catch (cause) {
    throw new CustodyError('CUSTODY_INVALID_OPTION', `Could not read the baseline ${path}: ${problemOf(cause)}.`, {
      hint: 'mend it, or remove it and write it anew with CUSTODY_BASELINE=update.',
      facts: { option: 'CUSTODY_BASELINE', path },
    })
  }
}

/** Writes it as a whole: whoever reads it sees the old one or the new one. */
export function writeBaseline(root: string, leaks: readonly LeakSignature[]): void {
  const path = join(root, BASELINE_FILE)
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ version: 1, leaks }, null, 2)}\n`)
  renameSync(draft, path)
}

function problemOf(cause: unknown): string {
  const [issue] = cause instanceof z.ZodError ? cause.issues : []
  if (issue === undefined) return (cause as Error).message
  return [issue.path.join('.'), issue.message].filter(Boolean).join(': ')
}

function wrongVariable(wanted: string): CustodyError {
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not read CUSTODY_BASELINE: it is ${JSON.stringify(wanted)}.`, {
    hint: 'give update or ignore, or leave it out: then a baseline counts where there is one.',
    facts: { option: 'CUSTODY_BASELINE' },
  })
}
