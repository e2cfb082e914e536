import { expect, onTestFinished, test, vi } from 'vitest'
import { hasEnded } from './has-ended.js'
import { ownIdentity, platform } from './index.js'
import { seeStart } from './see-start.js'

const own = ownIdentity()

/** Has the system refuse to tell a start time. */
function refuse(code: string): void {
  const look = vi.spyOn(platform, 'readStart').mockImplementation(() => {
    throw Object.assign(new Error(code), { code })
  })
  onTestFinished(() => look.mockRestore())
}

test('tells a live process from one that has ended, and from another under its number', () => {
  expect(hasEnded(own)).toBe(false)
  expect(hasEnded({ ...own, start: '1' })).toBe(true)
  // Beyond the largest pid that Linux can have.
  expect(hasEnded({ ...own, pid: 2 ** 22 + 1 })).toBe(true)
  expect(hasEnded({ ...own, boot: 'another' })).toBe(true)
})

test.each([
  ['without a start time', { start: null }],
  ['of another pid namespace', { pidns: 'pid:[1]' }],
  ['of another time namespace', { timens: 'time:[1]' }],
])('does not know of a process %s', (_, changes) => {
  expect(hasEnded({ ...own, ...changes })).toBeNull()
})

test.each(['EACCES', 'EPERM'])('takes a process for neither ended nor seen that the system hides (%s)', (code) => {
  refuse(code)
  expect(hasEnded(own)).toBeNull()
  expect(seeStart(own.pid)).toBeNull()
})

test('takes no other failure for an answer', () => {
  refuse('EMFILE')
  expect(() => hasEnded(own)).toThrow('EMFILE')
  expect(() => seeStart(own.pid)).toThrow('EMFILE')
})

test('sees the start time of a live process', () => {
  expect(seeStart(own.pid)).toBe(own.start)
  expect(seeStart(2 ** 22 + 1)).toBeNull()
})
