import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { hasEnded } from './has-ended.js'
import { ownIdentity } from './index.js'
import { linux, parseStat, readOrNull, readStartFrom } from './linux.js'

const tail = (state: string, threads = 1) => `${state} 7 42 42 0 -1 4194560 1 0 0 0 3 1 0 0 20 0 ${threads} 0 987654 1000 200`
const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code })
}

test('reads pid, name, parent, group and start time', () => {
  expect(parseStat(`42 (sh) ${tail('S')}`)).toEqual({ pid: 42, comm: 'sh', parent: 7, group: 42, start: '987654' })
})

test('is not misled by a name that looks like the rest of the line', () => {
  expect(parseStat(`42 (a) Z 1 (b) R) ${tail('S')}`)).toEqual({
    pid: 42,
    comm: 'a) Z 1 (b) R',
    parent: 7,
    group: 42,
    start: '987654',
  })
})

test.each(['Z', 'X'])('counts a process in the state %s as gone', (state) => {
  expect(parseStat(`42 (sh) ${tail(state)}`)).toBeNull()
})

test.each(['Z', 'X'])('counts a process in the state %s as gone when its last thread has left it', (state) => {
  expect(parseStat(`42 (sh) ${tail(state, 0)}`)).toBeNull()
})

test.each(['Z', 'X'])(
  'does not count a process as gone of which the first thread is in the state %s and another one runs',
  (state) => {
    expect(parseStat(`42 (sh) ${tail(state, 2)}`)).toMatchObject({ pid: 42, start: '987654' })
  },
)

test('sees a process alive whose first thread has ended, until it has ended itself', async () => {
  const path = fileURLToPath(new URL('../../../../test/programs/processes/going-on-without-its-leader.py', import.meta.url))
  const program = startProgram('processes/waiting.js', { before: `exec python3 '${path}'` })
  await program.printed(/ready/)
  const start = linux.readStart(program.pid)
  expect(start).toMatch(/^\d+$/)
  const identity = { ...ownIdentity(), pid: program.pid, start }
  expect(hasEnded(identity)).toBe(false)
  program.child.kill('SIGKILL')
  await program.exited
  expect(linux.readStart(program.pid)).toBeNull()
  expect(hasEnded(identity)).toBe(true)
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

test('takes only the absence of a process for its end: one that may not be looked at is there', () => {
  expect(readStartFrom(() => `42 (sh) ${tail('S')}`)).toBe('987654')
  for (const code of ['ENOENT', 'ESRCH']) expect(readStartFrom(failing(code))).toBeNull()
  for (const code of ['EACCES', 'EPERM', 'EMFILE']) expect(() => readStartFrom(failing(code))).toThrow(code)
})

test('takes only an absence for an absence', () => {
  for (const code of ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR']) expect(readOrNull(failing(code))).toBeNull()
  expect(() => readOrNull(failing('EMFILE'))).toThrow('EMFILE')
})
