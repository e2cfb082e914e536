import { describe, expect, test } from 'vitest'
import { type Baseline, findFixed, isKnown, type LeakSignature, normalizeCommand, updated } from './baseline.js'

const leak = (file: string, title: string, ...argv: string[]): LeakSignature => ({ project: '', file, test: title, argv })
const baseline = (...leaks: LeakSignature[]): Baseline => ({ isUpdated: false, leaks })
const judged = (file: string, passed: string[], isWhole = false) => ({ project: '', file, passed, isWhole })
const everyFile = () => true

describe('a command line without what changes', () => {
  test.each<[string, string[], string[]]>([
    ['a path of the project', ['/usr/bin/node', '/home/me/app/server.js'], ['node', '<root>/server.js']],
    ['another path', ['node', '/tmp/cst-8f3aQ/x.js', '--log=/var/log/a'], ['node', '<path>', '--log=<path>']],
    ['a path of Windows', ['node', 'C:\\Users\\me\\x.js'], ['node', '<path>']],
    ['a port', ['node', 'server.js', '--port', '43117'], ['node', 'server.js', '--port', '<n>']],
    ['an address', ['curl', 'http://127.0.0.1:4312/x'], ['curl', 'http:<path>']],
    ['a hash', ['node', 'run.js', 'b7e23ec29af22b0b'], ['node', 'run.js', '<id>']],
    ['a UUID', ['x', '--id=5f0c6a1e-0b1d-4c1e-9a55-8c7f2d3e4b5a'], ['x', '--id=<id>']],
    ['words', ['node', 'server.js', '--watch', 'feedface'], ['node', 'server.js', '--watch', 'feedface']],
    ['one digit', ['node', 'v2.js', '-j', '4'], ['node', 'v2.js', '-j', '4']],
    ['nothing', [], ['']],
  ])('has %s replaced, or left', (_, command, normal) => expect(normalizeCommand(command, '/home/me/app')).toEqual(normal))

  test('is the same for two runs that differ in these', () => {
    const of = (root: string, port: string) => normalizeCommand([`${root}/bin/tool`, `${root}/a.js`, '-p', port], root)
    expect(of('/home/me/app', '4312')).toEqual(of('/ci/work/app', '39911'))
  })
})

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
