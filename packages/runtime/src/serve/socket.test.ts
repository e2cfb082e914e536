import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { chooseEndpoint, listen } from './socket.js'

const instance = 'a'.repeat(32)
/** What its socket is called. */
const name = instance.slice(0, 16)
/** A directory whose sockets have paths of this many bytes. */
const directoryFor = (bytes: number, letter = 'x') => {
  const parent = temporaryDirectory()
  const rest = bytes - Buffer.byteLength(`${parent}//s/${name}.sock`)
  return join(parent, letter.repeat(rest / Buffer.byteLength(letter)))
}

test('chooses a socket in a private directory that it makes', () => {
  const directory = join(temporaryDirectory(), 'custody')
  expect(chooseEndpoint(instance, directory)).toBe(`unix:${directory}/s/${name}.sock`)
  expect(lstatSync(join(directory, 's')).mode & 0o777).toBe(0o700)
})

test('names the socket by the real path of its directory', () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'real'))
  symlinkSync(join(directory, 'real'), join(directory, 'link'))
  expect(chooseEndpoint(instance, join(directory, 'link', 'run'))).toBe(`unix:${directory}/real/run/s/${name}.sock`)
})

// B58: Node 20 would truncate the path without a word.
test('takes a path of 107 bytes and refuses 108, without making anything', () => {
  const fits = directoryFor(107)
  expect(Buffer.byteLength(chooseEndpoint(instance, fits).slice('unix:'.length))).toBe(107)
  const tooLong = directoryFor(108)
  expect(() => chooseEndpoint(instance, tooLong)).toThrow(
    expect.objectContaining({
      code: 'CUSTODY_SOCKET_PATH_TOO_LONG',
      message: expect.stringContaining('108 bytes'),
      facts: expect.objectContaining({ bytes: 108, limitBytes: 107 }),
    }),
  )
  expect(existsSync(tooLong)).toBe(false)
})

test('counts bytes, not characters', () => {
  const directory = join(temporaryDirectory(), 'ü'.repeat(35))
  expect(`${directory}/s/${name}.sock`.length).toBeLessThan(107)
  expect(() => chooseEndpoint(instance, directory)).toThrow(expect.objectContaining({ code: 'CUSTODY_SOCKET_PATH_TOO_LONG' }))
})

test('refuses a short name for a directory whose real path is too long', () => {
  const long = directoryFor(120)
  mkdirSync(long)
  const link = join(temporaryDirectory(), 'l')
  symlinkSync(long, link)
  expect(() => chooseEndpoint(instance, join(link, 'run'))).toThrow(
    expect.objectContaining({ code: 'CUSTODY_SOCKET_PATH_TOO_LONG' }),
  )
})

test.each([
  ['others can reach', (path: string) => mkdirSync(path, { mode: 0o755 })],
  ['is a symbolic link', (path: string) => symlinkSync(temporaryDirectory(), path)],
])('refuses a directory above that of the sockets that %s', (_, put) => {
  const directory = join(temporaryDirectory(), 'custody')
  put(directory)
  expect(() => chooseEndpoint(instance, directory)).toThrow(expect.objectContaining({ code: 'CUSTODY_UNSAFE_DIRECTORY' }))
})

test('listens on a socket that is private itself', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const server = createServer()
  await listen(server, path)
  expect(lstatSync(path).mode & 0o777).toBe(0o600)
  server.close()
})

test('rejects, and does not listen, when the socket is gone before it can be made private', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const server = createServer()
  const listening = listen(server, path)
  rmSync(path)
  await expect(listening).rejects.toMatchObject({ code: 'ENOENT' })
  expect(server.listening).toBe(false)
})

// B52: a stale socket file without a listener, or another file at its place.
test('does not take a path over that is in use', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const server = createServer()
  await listen(server, path)
  await expect(listen(createServer(), path)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  server.close()
})
