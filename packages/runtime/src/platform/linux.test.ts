import { expect, test } from 'vitest'
import { linux, parseStat, readOrNull } from './linux.js'

const tail = (state: string) => `${state} 7 42 42 0 -1 4194560 1 0 0 0 3 1 0 0 20 0 1 0 987654 1000 200`

test('reads pid, name, parent and start time', () => {
  expect(parseStat(`42 (sh) ${tail('S')}`)).toEqual({ pid: 42, comm: 'sh', parent: 7, start: '987654' })
})

test('is not misled by a name that looks like the rest of the line', () => {
  expect(parseStat(`42 (a) Z 1 (b) R) ${tail('S')}`)).toEqual({ pid: 42, comm: 'a) Z 1 (b) R', parent: 7, start: '987654' })
})

test.each(['Z', 'X'])('counts a process in the state %s as gone', (state) => {
  expect(parseStat(`42 (sh) ${tail(state)}`)).toBeNull()
})

test.each(['', '42', '42 (sh', '42 sh) S', '42 (sh) S 7'])('reads nothing from %j', (line) => {
  expect(parseStat(line)).toBeNull()
})

test('reads one start time for a live process and none for a number without one', () => {
  expect(linux.readStart(process.pid)).toMatch(/^\d+$/)
  expect(linux.readStart(process.pid)).toBe(linux.readStart(process.pid))
  // Beyond the largest pid that Linux can have.
  expect(linux.readStart(2 ** 22 + 1)).toBeNull()
})

test('takes only an absence for an absence', () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }
  for (const code of ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR']) expect(readOrNull(failing(code))).toBeNull()
  expect(() => readOrNull(failing('EMFILE'))).toThrow('EMFILE')
})
