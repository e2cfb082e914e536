import { describe, expect, test } from 'vitest'
import { parseOptions } from './parse-options.js'

describe('options', () => {
  test('have defaults', () => {
    expect(parseOptions(undefined)).toEqual({
      published: 'retire',
      unproven: 'fail',
      forced: 'warn',
      unexpectedExit: 'fail',
      leaks: 'fail',
      overrides: [],
      leakScope: 'file',
      allow: [],
      commonHelpers: true,
      explain: false,
      locators: [],
      runtimes: [],
      logs: 'on-failure',
      streamed: [],
      keep: 'on-failure',
      markChildren: true,
      timeouts: { proofMs: 2_000, readyMs: 30_000, graceMs: 5_000, exitMs: 2_000, teardownMs: 10_000 },
      unmanaged: 'warn',
      strict: false,
      report: { json: null, junit: null },
    })
  })

  test('keep what is given beside the defaults', () => {
    expect(parseOptions({ timeouts: { graceMs: 7 } }).timeouts).toEqual({
      proofMs: 2_000,
      readyMs: 30_000,
      graceMs: 7,
      exitMs: 2_000,
      teardownMs: 10_000,
    })
  })

  test.each([
    [{ locator: [] }, 'there is no option locator', 'did you mean locators?'],
    [{ timeouts: { gracems: 1 } }, 'there is no option timeouts.gracems', 'did you mean timeouts.graceMs?'],
    [{ report: { jsn: 'x' } }, 'there is no option report.jsn', 'did you mean report.json?'],
    [
      { allow: [{ argv: ['a'], reason: 'b', until: 'run', reasons: 'c' }] },
      'there is no option allow.0.reasons',
      'did you mean allow.0.reason?',
    ],
    [{ somethingElse: 1 }, 'there is no option somethingElse', 'choose one of published, unproven'],
    [{ graceMs: 5 }, 'there is no option graceMs', 'did you mean timeouts.graceMs?'],
    [{ json: 'x' }, 'there is no option json', 'did you mean report.json?'],
    [{ keep: 'sometimes' }, 'keep is wrong: it is "sometimes"', "keep must be 'never', 'on-failure' or 'always'."],
    [
      { timeouts: { proofMs: -1 } },
      'timeouts.proofMs is wrong: it is -1',
      'timeouts.proofMs must be a number of milliseconds, from 0 to 2_147_483_647.',
    ],
    [{ timeouts: 5 }, 'timeouts is wrong: it is 5', 'timeouts must be an object, such as { graceMs: 5_000 }.'],
    [{ report: { json: 1 } }, 'report.json is wrong: it is 1', 'report.json must be a path.'],
    [{ strict: 'yes' }, 'strict is wrong: it is "yes"', 'strict must be true or false.'],
    [{ locators: 'x' }, 'locators is wrong: it is "x"', 'locators must be a list of globs, such as'],
    [{ locators: [1] }, 'locators.0 is wrong: it is 1', 'locators.0 must be a glob.'],
    [
      { allow: [{ argv: 'sleep', reason: 'x', until: 'run' }] },
      'allow.0.argv is wrong: it is "sleep"',
      "allow.0.argv must be a list of texts, such as ['sleep', '**'].",
    ],
    [{ allow: [{ argv: [], reason: 'x', until: 'run' }] }, 'allow.0.argv.0 is missing', 'must be a text: the program, or'],
    [{ allow: [{ argv: ['a', 1], reason: 'x', until: 'run' }] }, 'allow.0.argv.1 is wrong: it is 1', 'must be a text: '],
    [
      { allow: [{ argv: ['**', 'a'], reason: 'x', until: 'run' }] },
      'allow.0.argv is wrong',
      'must have ** for whatever follows at',
    ],
    [
      { allow: [{ argv: ['a'], until: 'now' }] },
      'allow.0.reason is missing; allow.0.until is wrong: it is "now"',
      "allow.0.until must be 'scope', 'run' or 'forever'.",
    ],
    [{ allow: [{ argv: ['a'], reason: 'x' }] }, 'allow.0.until is missing', "must be 'scope', 'run' or 'forever'."],
    [{ allow: ['sleep'] }, 'allow.0 is wrong: it is "sleep"', 'allow.0 must be an object, such as { argv: '],
    [{ allow: [{ reason: 'x', until: 'run' }] }, 'allow.0.argv is missing', "must be a list of texts, such as ['sleep', '**']."],
    [{ overrides: [{ leaks: 'warn' }] }, 'overrides.0.files is missing', "must be a glob or a list of globs, such as 'src/**'."],
    [{ overrides: [{ files: 'a', leek: 'off' }] }, 'there is no option overrides.0.leek', 'did you mean overrides.0.leaks?'],
    [{ runtimes: [{ name: 'a' }] }, 'runtimes.0.command is missing', 'must be a list of program and arguments, such as'],
    [
      {
        runtimes: [
          { name: 'a', command: 'a' },
          { name: 'a', command: 'b' },
        ],
      },
      'runtimes is wrong',
      'must have each name once.',
    ],
    ['all', 'options is wrong: it is "all"', "options must be an object, such as { leaks: 'warn' }."],
    [['all'], 'options is wrong: it is ["all"]', "options must be an object, such as { leaks: 'warn' }."],
  ])('refuses %j by name and says what to do', (options, what, hint) => {
    expect(() => parseOptions(options)).toThrow(expect.objectContaining({ code: 'CUSTODY_INVALID_OPTION' }))
    expect(() => parseOptions(options)).toThrow(what)
    expect(() => parseOptions(options)).toThrow(hint)
  })

  test('are described without a word of what validates them, and none is forgotten', () => {
    const wrong = { overrides: 1, allow: 1, locators: 1, runtimes: 1, timeouts: 1, report: 1, keep: 1, strict: 1 }
    expect(() => parseOptions(wrong)).toThrow(/^(?!.*(?:invalid|expected|received|something else|docs\/))/is)
  })

  test('names all that is wrong at once', () => {
    expect(() => parseOptions({ keep: 1, kep: 1 })).toThrow(/keep is wrong.*there is no option kep/)
  })
})
