import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { LogFile } from './log-file.js'

function newLog(text: string): LogFile {
  const path = join(temporaryDirectory(), 'log')
  writeFileSync(path, text)
  return new LogFile(path)
}

test('gives all of a text, however long, whose characters have several bytes', () => {
  const text = 'x'.repeat(64 * 1024 - 1) + '€'.repeat(50_000)
  const log = newLog(text)
  expect(log.text()).toBe(text)
  expect(log.size).toBe(Buffer.byteLength(text))
})

test('gives the text from a byte on', () => expect(newLog('first\nsecond\n').text(6)).toBe('second\n'))

test('gives the last lines, without the end of the last', () => {
  expect(newLog('a\nb\nc\n').tail(2)).toBe('b\nc')
  expect(newLog('a\nb\nc').tail(2)).toBe('b\nc')
  expect(newLog('a').tail(20)).toBe('a')
})

test('reads no more than the last 64 KiB for the last lines', () => {
  const log = newLog(`${'x'.repeat(10_000_000)}\nlast\n`)
  expect(log.tail(2)).toHaveLength(64 * 1024 - 1)
  expect(log.tail(1)).toBe('last')
})

test('reads at most 64 KiB at a look', () => expect(newLog('x'.repeat(100_000)).read(0)).toHaveLength(64 * 1024))

test('is empty when its file is gone', () => {
  const log = newLog('x')
  rmSync(log.path)
  expect([log.text(), log.tail(1), log.size, log.read(0).length]).toEqual(['', '', 0, 0])
})

test('does not take a file that cannot be read for an empty one', () => {
  const path = join(temporaryDirectory(), 'log')
  mkdirSync(path)
  expect(() => new LogFile(path).text()).toThrow(expect.objectContaining({ code: 'EISDIR' }))
})

test('tells of a change, also of one that nobody gave notice of', async () => {
  const log = newLog('')
  const never = new AbortController().signal
  const changed = log.changed(never, 0)
  appendFileSync(log.path, 'x')
  await changed
  // Nothing changes any more, and nobody can watch what is gone.
  await log.changed(never, 1)
  rmSync(log.path)
  await log.changed(never, 0)
})

test('stops to wait when it is told to', async () => {
  const log = newLog('')
  const over = new AbortController()
  const order: string[] = []
  const changed = log.changed(over.signal, 0).then(() => order.push('changed'))
  over.abort()
  await new Promise(setImmediate)
  order.push('next turn')
  await changed
  expect(order).toEqual(['changed', 'next turn'])
})

test('does not wait for a change that has come since the last look', async () => {
  const order: string[] = []
  const changed = newLog('x')
    .changed(new AbortController().signal, 0)
    .then(() => order.push('changed'))
  await new Promise(setImmediate)
  order.push('next turn')
  await changed
  expect(order).toEqual(['changed', 'next turn'])
})
