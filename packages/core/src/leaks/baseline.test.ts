import { describe, expect, test } from 'vitest'
import { type Baseline, findFixed, isKnown, updated } from './baseline.js'
import type { LeakSignature } from './signature.js'

const leak = (file: string, title: string, ...argv: string[]): LeakSignature => ({ project: '', file, test: title, argv })
const baseline = (...leaks: LeakSignature[]): Baseline => ({ isUpdated: false, leaks })
const judged = (file: string, passed: string[], isWhole = false) => ({ project: '', file, passed, isWhole })
const everyFile = () => true

describe('a baseline', () => {
  const known = leak('a.test.js', 'leaks', 'sleep', '<n>')

  test('knows what it lists, by project, file, test and command', () => {
    expect(isKnown({ ...known }, baseline(known))).toBe(true)
    for (const change of [{ project: 'b' }, { file: 'b.test.js' }, { test: 'other' }, { argv: ['sleep'] }]) {
      expect(isKnown({ ...known, ...change }, baseline(known))).toBe(false)
    }
    expect(isKnown(known, null)).toBe(false)
  })

  test('knows all while it is written', () => expect(isKnown(known, { isUpdated: true, leaks: [] })).toBe(true))

  test('has each leak once, in the order of files and tests, and without the fixed ones', () => {
    const [second, third] = [leak('a.test.js', 'leaks twice', 'x'), leak('b.test.js', '', 'x')]
    expect(updated([third, known], [second, known], [])).toEqual([known, second, third])
    expect(updated([third, known], [second], [known])).toEqual([second, third])
  })
})

describe('a known leak is fixed', () => {
  const known = leak('a.test.js', 'leaks', 'x')
  const ofFile = leak('a.test.js', '', 'x')

  test.each<[string, boolean, Parameters<typeof findFixed>]>([
    ['when its test has passed without it', true, [baseline(known), [], [judged('a.test.js', ['leaks'])], everyFile]],
    ['not when it was found', false, [baseline(known), [known], [judged('a.test.js', ['leaks'], true)], everyFile]],
    ['not when its test has not run', false, [baseline(known), [], [judged('a.test.js', ['other'])], everyFile]],
    ['not when its file has not run', false, [baseline(known), [], [judged('b.test.js', ['leaks'], true)], everyFile]],
    [
      'when its test is there no more, in a file that has passed as a whole',
      true,
      [baseline(known), [], [judged('a.test.js', ['other'], true)], everyFile],
    ],
    ['when its file is there no more', true, [baseline(known), [], [], () => false]],
    [
      'of the file when that has passed as a whole',
      true,
      [baseline(ofFile), [], [judged('a.test.js', ['leaks'], true)], everyFile],
    ],
    ['not of the file when some tests were left out', false, [baseline(ofFile), [], [judged('a.test.js', ['leaks'])], everyFile]],
    ['of no file whenever it was not found', true, [baseline(leak('', '', 'x')), [], [], everyFile]],
  ])('%s: %s', (_, isFixed, args) => expect(findFixed(...args)).toHaveLength(isFixed ? 1 : 0))
})
