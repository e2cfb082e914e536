import { CustodyError } from '@custody/runtime/errors'
import type { LeakPolicy, TestAllowance } from './options.js'
import { show } from './show.js'

const UNTIL = ['scope', 'run', 'forever']
const verbs = { allow: 'declare a process', configure: 'configure the file' } as const
const ALLOWANCE = "{ argv: ['sleep', '**'], reason: 'why it may stay', until: 'run' }"
const POLICIES = ['fail', 'warn', 'off']

/** Checks what a test declares; by hand, as a worker does not load what validates options. @throws CUSTODY_INVALID_OPTION */
export function checkAllowance(given: TestAllowance): TestAllowance {
  if (!isObject(given)) throw wrong('allow', 'what it is given', seen(given), `give ${ALLOWANCE}.`)
  const { argv, match, reason, until, ...others } = given as { [key in keyof TestAllowance]?: unknown }
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
  if (typeof reason !== 'string' || reason === '') throw wrong('allow', 'reason', seen(reason), 'say why, for people.')
  if (!UNTIL.includes(until as string)) throw wrong('allow', 'until', seen(until), oneOf(UNTIL))
  return given
}

/** @throws CUSTODY_INVALID_OPTION */
export function checkFileOptions(given: { readonly leaks: LeakPolicy }): LeakPolicy {
  if (!isObject(given)) throw wrong('configure', 'what it is given', seen(given), "give { leaks: 'warn' }.")
  const { leaks, ...others } = given as { leaks?: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined)
    throw wrong('configure', other, 'there is no such member', 'it takes leaks; all else is for the config.')
  if (!POLICIES.includes(leaks as string)) throw wrong('configure', 'leaks', seen(leaks), oneOf(POLICIES))
  return leaks as LeakPolicy
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && each !== '')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function seen(value: unknown): string | null {
  return value === undefined ? null : `it is ${show(value)}`
}

function oneOf(names: readonly string[]): string {
  return `choose one of ${names.join(', ')}.`
}

/** @param observed null where it was not given */
function wrong(member: keyof typeof verbs, option: string, observed: string | null, hint: string): CustodyError {
  return new CustodyError(
    'CUSTODY_INVALID_OPTION',
    `Could not ${verbs[member]}: ${option} is ${observed === null ? 'missing' : `wrong: ${observed}`}.`,
    {
      hint,
      facts: { option: `${member}.${option}` },
    },
  )
}
