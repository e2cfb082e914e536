import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// The marker changes the thread that it is loaded in, so each question has a process of its own.
const built = (name: string) => JSON.stringify(fileURLToPath(new URL(`../../dist/namespace/${name}.js`, import.meta.url)))
const preamble = `
import { birthState, newBirth } from ${built('birth-state')}
import { enterFile, runInCell } from ${built('cells')}
import { markChildren } from ${built('mark-children')}
import childProcess, { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
const state = birthState()
state.runDirectory = '/run/x'
markChildren()
markChildren()
const file = enterFile('a'.repeat(32))
const print = ['-e', 'console.log(process.env.CUSTODY_NAMESPACE)']
const within = (name, fn) => runInCell({ birth: newBirth(name), countsOn: true, isOver: false }, true, fn)
const output = (child) => new Promise((resolve) => { let text = ''; child.stdout.on('data', (data) => { text += data }); child.stdout.on('end', () => resolve(text.trim())) })
const node = process.execPath
`

function ask(body: string, env: Record<string, string> = {}): unknown {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', `${preamble}\n${body}`], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
  })
  return JSON.parse(output)
}

test('marks what every way to start a process starts, with the scope that it stands in', () => {
  const marks = ask(`
    const shell = 'echo "$CUSTODY_NAMESPACE"'
    const marks = await within('t1', async () => ({
      spawn: await output(spawn(node, print)),
      shell: await output(spawn(shell, { shell: true })),
      execFile: (await promisify(execFile)(node, print)).stdout.trim(),
      exec: (await promisify(exec)(shell)).stdout.trim(),
      fork: await output(fork('x', [], { execArgv: print, silent: true })),
      spawnSync: spawnSync(node, print, { encoding: 'utf8' }).stdout.trim(),
      spawnSyncWithoutArguments: spawnSync(shell, { shell: true, encoding: 'utf8' }).stdout.trim(),
      execFileSync: execFileSync(node, print, { encoding: 'utf8' }).trim(),
      execSync: execSync(shell, { encoding: 'utf8' }).trim(),
      plainExecSync: String(execSync(shell)).trim(),
      ownEnvironment: spawnSync(node, print, { encoding: 'utf8', env: { A: '1' } }).stdout.trim(),
      viaDefaultExport: childProcess.execFileSync(node, print, { encoding: 'utf8' }).trim(),
    }))
    console.log(JSON.stringify(marks))`)
  expect([...new Set(Object.values(marks as object))]).toEqual(['t1:/run/x'])
  expect(Object.keys(marks as object)).toHaveLength(12)
})

test('keeps scopes apart that run at the same time, and gives the rest to the file', () => {
  const marks = ask(`
    const mark = () => output(spawn(node, print))
    console.log(JSON.stringify([await Promise.all([within('t1', mark), within('t2', mark), mark()]), file.birth.id]))`) as [
    string[],
    string,
  ]
  const [[first, second, rest], fileId] = marks
  expect([first, second, rest]).toEqual(['t1:/run/x', 't2:/run/x', `${fileId}:/run/x`])
})

test('leaves an explicit value alone, and replaces the one that it inherited itself', () => {
  const marks = ask(
    `
    const run = (env) => [output(spawn(node, print, { env: { ...process.env, ...env } })), spawnSync(node, print, { encoding: 'utf8', env: { ...process.env, ...env } }).stdout.trim()]
    console.log(JSON.stringify(await Promise.all(within('t1', () => [...run({ CUSTODY_NAMESPACE: '' }), ...run({ CUSTODY_NAMESPACE: 'b:/y' }), ...run({})]))))`,
    { CUSTODY_NAMESPACE: 'outer:/z' },
  )
  expect(marks).toEqual(['', '', 'b:/y', 'b:/y', 't1:/run/x', 't1:/run/x'])
})

test('leaves the environment and the errors of the thread as they are', () => {
  const seen = ask(`
    const error = (fn) => { try { fn() } catch (error) { return error.code } }
    console.log(JSON.stringify([
      process.env.CUSTODY_NAMESPACE ?? null,
      error(() => spawnSync(node, print, 7)), error(() => spawnSync(7)), error(() => execSync()),
      spawnSync.name, spawnSync.length, (await promisify(execFile)('echo', ['a'])).stdout,
    ]))`)
  expect(seen).toEqual([null, 'ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_TYPE', 'spawnSync', 3, 'a\n'])
})

test('counts births and keeps the places of the first of them', () => {
  const seen = ask(`
    for (let i = 0; i < 40; i++) within('x', () => {}), spawnSync('true')
    console.log(JSON.stringify([file.birth.spawned, file.birth.sites.length, typeof file.birth.sites[0].stack]))`)
  expect(seen).toEqual([40, 32, 'string'])
})

test('marks nothing where there is no run, and nothing outside of a file', () => {
  const seen = ask(`
    state.runDirectory = null
    const unmarked = execFileSync(node, print, { encoding: 'utf8' }).trim()
    state.runDirectory = '/run/x'; state.file = null
    console.log(JSON.stringify([unmarked, file.birth.spawned, execFileSync(node, print, { encoding: 'utf8' }).trim()]))`)
  expect(seen).toEqual(['undefined', 1, 'undefined'])
})

test('leaves the promises of a thread as they are until it starts something', () => {
  const seen = ask(`
    const decorated = () => Object.getOwnPropertySymbols(Promise.resolve()).length
    const sequential = (name, fn) => runInCell({ birth: newBirth(name), countsOn: true, isOver: false }, false, fn)
    const before = await sequential('t1', async () => { await null; return decorated() })
    const mark = await sequential('t2', async () => { await null; return output(spawn(node, print)) })
    console.log(JSON.stringify([before, mark]))`)
  expect(seen).toEqual([0, 't2:/run/x'])
})
