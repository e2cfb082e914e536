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
      report: { json: null },
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
    [{ keep: 'sometimes' }, 'keep is wrong', 'see docs/options.md for what keep may be.'],
    [{ timeouts: { proofMs: -1 } }, 'timeouts.proofMs is wrong', 'see docs/options.md for what timeouts.proofMs may be.'],
    [{ locators: 'x' }, 'locators is wrong', 'see docs/options.md for what locators may be.'],
    ['all', 'options is wrong', 'see docs/options.md for what options may be.'],
  ])('refuses %j by name and says what to do', (options, what, hint) => {
    expect(() => parseOptions(options)).toThrow(expect.objectContaining({ code: 'CUSTODY_INVALID_OPTION' }))
    expect(() => parseOptions(options)).toThrow(what)
    expect(() => parseOptions(options)).toThrow(hint)
  })

  test('names all that is wrong at once', () => {
    expect(() => parseOptions({ keep: 1, kep: 1 })).toThrow(/keep is wrong.*there is no option kep/)
  })
})
