import { CustodyError, isObject } from '@custody/runtime/internals'
import * as z from 'zod'
import { eitherOf, expectationOf } from './expectations.js'
import type { ResolvedOptions } from './options.js'
import { isPlain, plainOf } from './plain-definition.js'
import { show } from './show.js'
import { suggest } from './suggest.js'

const path = z.string().min(1).nullable().default(null)
// setTimeout's own limit: a longer wait would fire at once.
const duration = z
  .number()
  .min(0)
  .max(2 ** 31 - 1)

const policy = z.enum(['fail', 'warn', 'ignore'])

const schema = z.strictObject({
  published: z.enum(['retire', 'fail']).default('retire'),
  unproven: policy.default('fail'),
  forced: policy.default('warn'),
  unexpectedExit: policy.default('fail'),
  leaks: z.enum(['fail', 'warn', 'off']).default('fail'),
  overrides: z
    .array(
      z.strictObject({
        files: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).transform((files) => [files].flat()),
        leaks: z.enum(['fail', 'warn', 'off']),
      }),
    )
    .default([]),
  leakScope: z.enum(['file', 'test']).default('file'),
  allow: z
    .array(
      z.strictObject({
        argv: z
          .tuple([z.string().min(1)], z.string())
          .refine((argv) => !argv.slice(0, -1).includes('**'), 'must have ** for whatever follows at its end'),
        reason: z.string().min(1),
        until: z.enum(['scope', 'run', 'forever']),
      }),
    )
    .default([]),
  commonHelpers: z.boolean().default(true),
  explain: z.boolean().default(false),
  locators: z.array(z.string().min(1)).default([]),
  keep: z.enum(['never', 'on-failure', 'always']).default('on-failure'),
  markChildren: z.boolean().default(true),
  runtimes: z
    .array(
      z.looseObject({
        name: z.string(),
        command: z.union([z.string().min(1), z.array(z.string()).min(1)]),
        eager: z.boolean().default(false),
      }),
    )
    .default([])
    .refine((runtimes) => new Set(runtimes.map(({ name }) => name)).size === runtimes.length, 'must have each name once')
    .refine(
      (runtimes) => runtimes.every(isPlain),
      'must be plain data, and have no needs: a runtime with functions, or that needs others, is for defineRuntime',
    )
    .transform((runtimes) => runtimes.map(plainOf)),
  logs: z.enum(['on-failure', 'stream', 'never']).default('on-failure'),
  timeouts: z
    .strictObject({
      proofMs: duration.default(2_000),
      readyMs: duration.default(30_000),
      graceMs: duration.default(5_000),
      exitMs: duration.default(2_000),
      teardownMs: duration.default(10_000),
    })
    .prefault({}),
  unmanaged: z.enum(['warn', 'fail']).default('warn'),
  strict: z.boolean().default(false),
  report: z.strictObject({ json: path, junit: path }).prefault({}),
})

/**
 * Validates options and fills in the defaults. In the main process only, once.
 * @throws CUSTODY_INVALID_OPTION which names the option and what it may be
 */
export function parseOptions(options: unknown, env: Readonly<Record<string, string | undefined>> = process.env): ResolvedOptions {
  // The variable comes before what is written.
  const leaks = env['CUSTODY_LEAKS'] || undefined
  const forAll = leaks === undefined ? {} : { leaks, overrides: [] }
  const given = isObject(options ?? {}) ? { ...(options as object | null), ...forAll } : options
  const parsed = schema.safeParse(given)
  const streamed = (env['CUSTODY_LOGS'] ?? '').split(',').map((name) => name.trim())
  if (parsed.success) return { ...parsed.data, streamed: streamed.filter(Boolean) }
  // What is wrong may stand in a variable instead.
  const named = { ...(leaks !== undefined && { leaks: 'CUSTODY_LEAKS' }) }
  const problems = parsed.error.issues.map((issue) => describe(issue, given, named))
  throw new CustodyError(
    'CUSTODY_INVALID_OPTION',
    `Could not read Custody's options: ${problems.map(({ what }) => what).join('; ')}.`,
    {
      hint: problems.map(({ hint }) => hint).join(' '),
      facts: { options: problems.map(({ option }) => option) },
    },
  )
}

interface Problem {
  readonly option: string
  readonly what: string
  readonly hint: string
}

/** @param named options that were given by variables, and these */
function describe(issue: z.core.$ZodIssue, given: unknown, named: Readonly<Record<string, string>>): Problem {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, path)
  const option = named[path.join('.')] ?? (path.join('.') || 'options')
  const value = path.reduce<unknown>((from, key) => (from as Record<string, unknown> | undefined)?.[key], given)
  const what = value === undefined ? `${option} is missing` : `${option} is wrong: it is ${show(value)}`
  return { option, what, hint: `${option} ${demandOf(issue, path)}.` }
}

function demandOf(issue: z.core.$ZodIssue, path: readonly string[]): string {
  if (issue.code === 'custom') return issue.message
  if (issue.code === 'invalid_value') return `must be ${eitherOf(issue.values)}`
  const isSwitch = issue.code === 'invalid_type' && issue.expected === 'boolean'
  return `must be ${isSwitch ? 'true or false' : expectationOf(path)}`
}

function unknownKeys(keys: readonly string[], path: readonly string[]): Problem {
  const names = keys.map((key) => [...path, key].join('.'))
  const hints = keys.map((key) => {
    if (path[0] === 'allow' && key === 'match') return 'match is for custody.allow in a test.'
    const group = path.length === 0 ? groups.find((each) => knownKeys([each]).includes(key)) : undefined
    return group === undefined ? suggest(key, knownKeys(path), path) : `did you mean ${group}.${key}?`
  })
  return { option: names.join(', '), what: `there is no option ${names.join(', ')}`, hint: hints.join(' ') }
}

/** Options that have others in them, which are easily taken for options themselves. */
const groups = ['timeouts', 'report']

function knownKeys(path: readonly string[]): readonly string[] {
  const [group] = path
  if (group === 'timeouts') return ['proofMs', 'readyMs', 'graceMs', 'exitMs', 'teardownMs']
  if (group === 'report') return ['json', 'junit']
  if (group === 'overrides') return ['files', 'leaks']
  if (group === 'allow') return ['argv', 'reason', 'until']
  return Object.keys(schema.shape)
}
