import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Identity } from '@custody/runtime'
import { Deadline, ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { observeExit } from '../retire/observe-exit.js'
import { sendSignal } from '../tree/send-signal.js'
import { type ExecOptions, exec } from './exec.js'

const program = (name: string) => fileURLToPath(new URL(`../../../../test/programs/processes/${name}`, import.meta.url))
const run = (file: string, args: readonly string[] = [], options: ExecOptions = {}) =>
  exec(file, args, options, { root: '/', env: { PATH: process.env['PATH'] }, site: {} })
const shell = (line: string, options?: ExecOptions) => run('sh', ['-c', line], options)

test('gives output, code and time of a command', async () => {
  expect(await shell('echo out; echo err >&2')).toEqual({
    ...{ stdout: 'out\n', stderr: 'err\n', all: expect.stringMatching(/^(out\nerr\n|err\nout\n)$/) },
    ...{ exitCode: 0, signal: null, timedOut: false, durationMs: expect.any(Number) },
  })
})

test('passes arguments on as they are', async () => {
  expect((await run('printf', ['%s|', '$HOME', 'a b', '*', ''])).stdout).toBe('$HOME|a b|*||')
})

test('has exactly the environment that it is given', async () => {
  const { stdout } = await run('/usr/bin/env', [], { env: { A: '1', B: undefined } })
  expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('PATH='))).toEqual(['A=1'])
})

test('finds what is installed in its directory', async () => {
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true })
  symlinkSync('/bin/pwd', join(cwd, 'node_modules/.bin/where-am-i'))
  expect((await run('where-am-i', [], { cwd })).stdout).toBe(`${cwd}\n`)
})

test('reads the end at once without input, and the input where there is one', async () => {
  expect((await run('cat')).stdout).toBe('')
  const input = 'x'.repeat(1_000_000)
  expect((await run('cat', [], { input })).stdout).toBe(input)
  // That nobody reads it is no failure.
  expect((await run('true', [], { input })).exitCode).toBe(0)
})

test('rejects with code and last lines when it fails, or gives them where that is asked for', async () => {
  const line = 'seq 1 30; exit 3'
  await expect(shell(line)).rejects.toMatchObject({
    code: 'CUSTODY_COMMAND_FAILED',
    message: expect.stringMatching(/^Could not run sh -c .*: it exited with code 3\.\n11\n12\n[\s\S]*\n30\n/),
    facts: { exitCode: 3, signal: null, timedOut: false },
  })
  expect(await shell(line, { reject: false })).toMatchObject({ exitCode: 3, signal: null })
})

test('tells the signal that ended it', async () => {
  await expect(shell('kill -9 $$')).rejects.toThrow('it was ended by SIGKILL')
  expect(await shell('kill -9 $$', { reject: false })).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: false })
})

test('ends a command that runs out of time, and rejects though it exits with 0 then', async () => {
  const options = { timeout: 100 }
  await expect(shell('trap "exit 0" TERM; while :; do sleep 0.01; done', options)).rejects.toMatchObject({
    code: 'CUSTODY_COMMAND_FAILED',
    message: expect.stringMatching(/it ran out of time after \d+ ms/),
    facts: { exitCode: 0, timedOut: true },
  })
})

test('kills a command that runs out of time and does not obey', async () => {
  const result = await run(process.execPath, [program('counting-signals.js')], { timeout: 3_000, reject: false })
  expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true })
  // A second after the polite signal.
  expect(result.durationMs).toBeLessThan(4_500)
})

test('resolves at the exit of a command whose daemon holds its output', async () => {
  const { exitCode, stdout } = await run(process.execPath, [program('leaving-a-daemon.js')])
  const pid = Number(/left (\d+)/.exec(stdout)?.[1])
  const daemon: Identity = { ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) }
  onTestFinished(async () => {
    sendSignal('SIGKILL', { kind: 'process', identity: daemon, proof: 'seen at birth' })
    await observeExit(daemon, Promise.resolve(), Deadline.after(20_000))
  })
  expect(exitCode).toBe(0)
  expect(daemon.start).not.toBe(null)
})

test.each([
  ['there is no such command', 'no-such-program', [], {}, 'ENOENT'],
  ['its directory is missing', 'true', [], { cwd: '/no/such/directory' }, 'ENOENT'],
  ['it is a directory', '/etc', [], {}, 'EACCES'],
  ['an argument is too long', 'true', ['x'.repeat(200_000)], {}, 'E2BIG'],
] as [string, string, string[], ExecOptions, string][])(
  'says that it could not be started when %s',
  async (_, file, args, options, code) => {
    await expect(run(file, args, { reject: false, ...options })).rejects.toMatchObject({
      code: 'CUSTODY_COMMAND_NOT_STARTED',
      message: expect.stringContaining(code),
      facts: { file, code },
    })
  },
)

test('says where arguments belong when there is no program of a name with blanks', async () => {
  await expect(run('node -e 1')).rejects.toMatchObject({
    hint: 'the program is "node -e 1" here: give its arguments as the second parameter, a list.',
  })
  await expect(run('node -e 1', [], { cwd: '/no/such/directory' })).rejects.toMatchObject({
    hint: 'check the command, its directory and PATH.',
  })
})

test.each<[string, unknown[], string]>([
  ['no program', [undefined], 'Could not run a command: its first parameter is missing.'],
  ['an empty program', [''], 'Could not run a command: its first parameter is "".'],
  ['options in the place of arguments', ['node', { reject: false }], 'its second parameter is {"reject":false}.'],
  ['a text in the place of arguments', ['node', '-e 1'], 'Could not run node: its second parameter is "-e 1".'],
  ['an argument that is none', ['node', ['-e', undefined]], 'Could not run node: its argument 2 is missing.'],
  ['options that are none', ['node', [], null], 'Could not run node: its third parameter is null.'],
  ['an option that there is not', ['node', [], { timeoutMs: 1 }], 'Could not run node: there is no option timeoutMs.'],
  ['a time in words', ['node', [], { timeout: '1s' }], 'Could not run node: timeout is "1s".'],
  ['a directory that is none', ['node', [], { cwd: 5 }], 'Could not run node: cwd is 5.'],
  ['a variable that is no text', ['node', [], { env: { PORT: 1 } }], 'Could not run node: env is {"PORT":1}.'],
])('refuses %s', async (_, call, message) => {
  await expect(run(...(call as Parameters<typeof run>))).rejects.toMatchObject({
    code: 'CUSTODY_INVALID_OPTION',
    message: expect.stringContaining(message),
  })
})

test.each<[unknown[], string]>([
  [['node', { reject: false }], "give the options as the third one: custody.exec('node', [], { … })."],
  [['node', '-e 1'], "give the arguments as a list: custody.exec('node', [ … ])."],
  [['node', [], { timeoutMs: 1 }], 'did you mean timeout?'],
  [['node', [], { rejects: false }], 'did you mean reject?'],
])('says what to do instead of %j', async (call, hint) => {
  await expect(run(...(call as Parameters<typeof run>))).rejects.toMatchObject({ hint })
})
