import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { ownIdentity } from '../platform/index.js'
import { isReplaceable } from './is-replaceable.js'

const own = ownIdentity()

test('does not replace the locator of a live process', async () => {
  expect(await isReplaceable(sampleLocator(own))).toBe(false)
})

// B51: after a crash the recorded pid is some other live process.
test('replaces a locator whose pid is another process by now', async () => {
  expect(await isReplaceable(sampleLocator({ ...own, start: '1' }))).toBe(true)
})

test('replaces the locator of a process that has exited', async () => {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
  await once(child, 'exit')
  expect(await isReplaceable(sampleLocator({ ...own, pid: child.pid as number }))).toBe(true)
})

test('replaces a locator of an earlier boot, even when somebody listens at its endpoint', async () => {
  expect(await isReplaceable(sampleLocator({ ...own, boot: 'another' }))).toBe(true)
})

test('asks for a listener where the kernel cannot know the process', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const elsewhere = sampleLocator({ ...own, pidns: 'pid:[1]', start: '1', endpoint: `unix:${path}` })
  expect(await isReplaceable(elsewhere)).toBe(true)
  const server = createServer((socket) => socket.destroy())
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(path, resolve))
  expect(await isReplaceable(elsewhere)).toBe(false)
  expect(await isReplaceable({ ...elsewhere, pidns: own.pidns, timens: 'time:[1]' })).toBe(false)
  expect(await isReplaceable({ ...elsewhere, boot: null })).toBe(false)
})

test('asks for a listener where the locator tells no start time', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const startless = sampleLocator({ ...own, start: null, endpoint: `unix:${path}` })
  expect(await isReplaceable(startless)).toBe(true)
  const server = createServer((socket) => socket.destroy())
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(path, resolve))
  expect(await isReplaceable(startless)).toBe(false)
})

test('does not take a locator that tells no boot for one of another boot', async () => {
  expect(await isReplaceable(sampleLocator({ ...own, boot: null }))).toBe(false)
})
