import { CustodyError } from '@custody/runtime/errors'
import type { LeakPolicy, TestAllowance } from './options.js'

const UNTIL = ['scope', 'run', 'forever']
const verbs = { allow: 'declare a process', configure: 'configure the file' } as const
const POLICIES = ['fail', 'warn', 'off']

/** Checks what a test declares; by hand, as a worker does not load what validates options. @throws CUSTODY_INVALID_OPTION */
export function checkAllowance(given: TestAllowance): TestAllowance {
  const { argv, match, reason, until, ...others } = (given ?? {}) as { [key in keyof TestAllowance]?: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined) throw wrong('allow', other, 'there is no such member', 'it takes argv or match, reason and until.')
  if ((argv === undefined) === (match === undefined)) {
    throw wrong(
      'allow',
      'argv',
      'there must be either argv or match',
      "give argv: ['node', 'server.js', '**'], or match: /server/.",
    )
  }
  if (argv !== undefined && !isListOfTexts(argv)) throw wrong('allow', 'argv', 'it is no list of texts', "give ['node', '**'].")
  if ((argv as string[] | undefined)?.slice(0, -1).includes('**'))
    throw wrong('allow', 'argv', '** is not at its end', 'it fits whatever follows.')
  // A pattern may be of another realm.
  const isMatcher = typeof match === 'function' || Object.prototype.toString.call(match) === '[object RegExp]'
  if (match !== undefined && !isMatcher) throw wrong('allow', 'match', 'it is neither a pattern nor a function', 'give /server/.')
  if (typeof reason !== 'string' || reason === '') throw wrong('allow', 'reason', 'it is missing', 'say why, for people.')
  if (!UNTIL.includes(until as string)) throw wrong('allow', 'until', `it is ${JSON.stringify(until)}`, oneOf(UNTIL))
  return given
}

/** @throws CUSTODY_INVALID_OPTION */
export function checkFileOptions(given: { readonly leaks: LeakPolicy }): LeakPolicy {
  const { leaks, ...others } = (given ?? {}) as { leaks?: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined)
    throw wrong('configure', other, 'there is no such member', 'it takes leaks; all else is for the config.')
  if (!POLICIES.includes(leaks as string)) throw wrong('configure', 'leaks', `it is ${JSON.stringify(leaks)}`, oneOf(POLICIES))
  return leaks as LeakPolicy
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && each !== '')
}

function oneOf(names: readonly string[]): string {
  return `choose one of ${names.join(', ')}.`
}

function wrong(member: keyof typeof verbs, option: string, observed: string, hint: string): CustodyError {
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not ${verbs[member]}: ${option} is wrong: ${observed}.`, {
    hint,
    facts: { option: `${member}.${option}` },
  })
}
