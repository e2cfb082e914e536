import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { type Program, startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { fileIdOf, holdsFile } from '../tree/file-id.js'
import { linux } from './linux.js'

async function waiting(env: Record<string, string> = {}, before?: string): Promise<Program> {
  const program = startProgram('processes/waiting.js', { env, ...(before === undefined ? {} : { before }) })
  await program.printed(/ready/)
  return program
}

/** A process that has ended and is not reaped, and the start time that the kernel keeps of it. It goes when its parent does. */
async function zombie(): Promise<{ pid: number; start: string; parent: Program }> {
  // The parent becomes Node, which knows nothing of the child.
  const parent = await waiting({}, '/bin/sleep 1000 & echo "child $!"')
  const pid = Number((await parent.printed(/child (\d+)/))[1])
  const { start = '' } = linux.readProcess(pid) ?? {}
  process.kill(pid, 'SIGKILL')
  while (!readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')) await new Promise(setImmediate)
  return { pid, start, parent }
}

test('tells of a process who its parent is, its group, when it started, and its short name', () => {
  const { pid, start } = ownIdentity()
  const comm = readFileSync('/proc/self/comm', 'utf8').trim()
  const group = Number(execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }))
  expect(linux.readProcess(pid)).toEqual({ pid, parent: process.ppid, group, start, comm })
  expect(linux.listProcesses()).toContainEqual(linux.readProcess(process.ppid))
})

test('lists again only who is new', async () => {
  const before = await waiting()
  const listed = new Set<number>()
  expect(linux.listProcesses(listed).map(({ pid }) => pid)).toContain(before.pid)
  const after = await waiting()
  const again = linux.listProcesses(listed).map(({ pid }) => pid)
  expect(again).toContain(after.pid)
  expect(again).not.toContain(before.pid)
  expect([...listed]).toEqual(expect.arrayContaining([before.pid, after.pid]))
})

test.each(['a) R 1 2 (', '(', ') S 1 1 1 1', 'two words'])('reads past the name %j', async (name) => {
  const path = join(temporaryDirectory(), name)
  writeFileSync(path, '#!/bin/sh\necho ready\nread line\n', { mode: 0o700 })
  const program = startProgram('processes/waiting.js', { before: `exec '${path}'` })
  await program.printed(/ready/)
  const entry = linux.readProcess(program.pid)
  expect(entry).toMatchObject({ pid: program.pid, parent: process.pid, comm: name })
  expect(linux.holdsNumber(program.pid, entry?.start ?? '')).toBe(true)
})

test('knows nothing of numbers that nobody has', () => {
  for (const pid of [0, -1, 2 ** 22 + 1, Number.NaN]) {
    expect(linux.readProcess(pid)).toBe(null)
    expect(linux.holdsNumber(pid, '1')).toBe(false)
    expect(linux.readInitialVariable(pid, 'PATH')).toBe('absent')
    expect(linux.readCommand(pid)).toEqual([])
    expect(holdsFile(pid, [fileIdOf('/dev/null')])).toBe(false)
    expect(linux.holdsSocket(pid, [1])).toBe(false)
  }
})

test('takes a zombie for no process, though it still holds its number', async () => {
  const { parent, pid, start } = await zombie()
  expect(linux.readProcess(pid)).toBe(null)
  expect(linux.listProcesses().map((each) => each.pid)).not.toContain(pid)
  expect(linux.readInitialVariable(pid, 'PATH')).toBe('absent')
  expect(linux.holdsNumber(pid, start)).toBe(true)
  expect(linux.holdsNumber(pid, '1')).toBe(false)
  expect(linux.holdsNumber(parent.pid, start)).toBe(linux.readProcess(parent.pid)?.start === start)
})

test('frees the number when the process has been reaped', async () => {
  const program = await waiting()
  const { start = '' } = linux.readProcess(program.pid) ?? {}
  program.child.kill('SIGKILL')
  await program.exited
  expect(linux.holdsNumber(program.pid, start)).toBe(false)
})

test('reads a variable of the environment that a process was started with', async () => {
  const { pid } = await waiting({ A: 'x=y z', AB: 'other', EMPTY: '' })
  expect(linux.readInitialVariable(pid, 'A')).toEqual({ value: 'x=y z' })
  expect(linux.readInitialVariable(pid, 'EMPTY')).toEqual({ value: '' })
  expect(linux.readInitialVariable(pid, 'B')).toBe('absent')
})

test('sees that a file is open for writing, by the file and not by its name', async () => {
  const path = join(temporaryDirectory(), 'a')
  const { pid } = await waiting({}, `exec 8>>${path}; mv ${path} ${path}.old; : >${path}`)
  const [held, other] = [fileIdOf(`${path}.old`), fileIdOf(path)]
  expect(holdsFile(pid, [held])).toBe(true)
  expect(holdsFile(pid, [other, held])).toBe(true)
  expect(holdsFile(pid, [other])).toBe(false)
  expect(holdsFile(pid, [])).toBe(false)
})

test.each([
  ['a', true],
  ['r+', true],
  ['r', false],
])('takes a file that is open with %j for held: %s', (flags, isHeld) => {
  const path = join(temporaryDirectory(), 'a')
  writeFileSync(path, '')
  const descriptor = openSync(path, flags)
  onTestFinished(() => closeSync(descriptor))
  expect(holdsFile(process.pid, [fileIdOf(path)])).toBe(isHeld)
})

test.each(['127.0.0.1', '0.0.0.0', '::1', '::'])('finds who listens on a port of %s', async (host) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as { port: number }
  const sockets = linux.listListeners(port) ?? []
  expect(sockets).toHaveLength(1)
  expect(linux.holdsSocket(process.pid, sockets)).toBe(true)
  expect(linux.holdsSocket(process.ppid, sockets)).toBe(false)
  await new Promise((resolve) => server.close(resolve))
  expect(linux.listListeners(port)).toEqual([])
  expect(linux.holdsSocket(process.pid, sockets)).toBe(false)
})

test('does not take a connection of that port for a listener', async () => {
  const server = startProgram('servers/answering-http.js')
  const port = Number((await server.printed(/:(\d+)\n/))[1])
  const response = await fetch(`http://127.0.0.1:${port}`)
  await response.text()
  const sockets = linux.listListeners(port) ?? []
  expect(sockets).toHaveLength(1)
  expect(linux.holdsSocket(server.pid, sockets)).toBe(true)
  expect(linux.holdsSocket(process.pid, sockets)).toBe(false)
})

test('does not take a port whose number has the same end for that port', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  expect(linux.listListeners(port & 0xfff)).not.toEqual(linux.listListeners(port))
  await new Promise((resolve) => server.close(resolve))
})

test('gives the command line, argument by argument', async () => {
  const program = startProgram('processes/waiting.js', { args: ['a b', ''] })
  await program.printed(/ready/)
  expect(linux.readCommand(program.pid).slice(-2)).toEqual(['a b', ''])
  expect(linux.readCommand(program.pid)[0]).toBe(process.execPath)
})

test('gives the words of a title that a program has written over its command line', async () => {
  const program = startProgram('processes/titled.js', { args: ['npm run serve', 'and', 'what', 'it', 'was', 'given'] })
  await program.printed(/ready/)
  expect(linux.readCommand(program.pid)).toEqual(['npm', 'run', 'serve'])
})

test('orders start times by their numbers, not by their letters', () => {
  expect(linux.isOlder('9', '10')).toBe(true)
  expect(linux.isOlder('10', '9')).toBe(false)
  expect(linux.isOlder('10', '10')).toBe(false)
  expect(linux.isOlder('9007199254740992', '9007199254740993')).toBe(true)
})
