import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { bundleScript } from '../../../../../test/programs/bundle-script.js'
import { unsharePids } from '../../../../../test/programs/unshare.js'
import { startProgram } from '../../../../../test/runtime/start-program.js'
import { linuxNative } from './linux-native.js'
import { loadKoffi } from './load-koffi.js'
import type { HeldProcess } from './native.js'

const here = fileURLToPath(import.meta.url)
const koffi = loadKoffi([here])
if (koffi === null) throw new Error('koffi is installed with this repository')
const native = linuxNative(koffi)

function hold(pid: number): HeldProcess {
  const held = native.hold(pid)
  if (held === null) throw new Error(`pid ${pid} could not be held`)
  onTestFinished(() => held.release())
  return held
}

test('is null where it is not installed', () => {
  const script = `
    console.log(JSON.stringify(loadKoffi(['/nonexistent/file.js'])))`
  expect(inOwnProcess(script, 'env', 'NODE_PATH=')).toBeNull()
})

test('sends a signal to the very process, and none to one that has exited', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const held = hold(program.pid)
  expect(held.send(2)).toBe(true)
  expect(await program.exited).toEqual({ code: null, signal: 'SIGINT' })
  expect(held.send(2)).toBe(false)
})

test('tells of an exit, also when it is asked after it', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const [early, late] = [hold(program.pid), hold(program.pid)]
  const told = early.exited
  program.child.kill('SIGKILL')
  await told
  await program.exited
  await late.exited
})

test('holds nobody who is not there', () => {
  // Beyond the largest pid that Linux can have.
  expect(native.hold(2 ** 22 + 1)).toBeNull()
})

test('leaves no descriptor open', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const count = () => readdirSync('/proc/self/fd').length
  const before = count()
  for (let at = 0; at < 50; at++) {
    const held = native.hold(program.pid)
    void held?.exited
    held?.release()
  }
  expect(count()).toBe(before)
})

/** Runs a script in a process of its own, which may become an adopter of orphans. What it prints is JSON. */
function inOwnProcess(script: string, ...wrapper: string[]): unknown {
  const preamble = `
    import { spawn } from 'node:child_process'
    import { once } from 'node:events'
    import { readFileSync } from 'node:fs'
    import { linuxNative } from './linux-native.js'
    import { loadKoffi } from './load-koffi.js'
    const native = linuxNative(loadKoffi(['${here}']))
    const parentOf = (pid) => Number(readFileSync('/proc/' + pid + '/stat', 'latin1').split(') ').pop().split(' ')[1])
    const start = async (command) => {
      const child = spawn('sh', ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
      const exited = once(child, 'exit')
      const [output] = await once(child.stdout, 'data')
      return { child, exited, said: String(output).trim() }
    }`
  const program = bundleScript(`${preamble}\n${script}`, fileURLToPath(new URL('.', import.meta.url)))
  const [file = '', ...args] = [...wrapper, process.execPath, '--input-type=module']
  return JSON.parse(execFileSync(file, args, { encoding: 'utf8', input: program, timeout: 30_000, killSignal: 'SIGKILL' }))
}

test('has orphans come to it, and reaps them without taking an exit from Node', () => {
  const result = inOwnProcess(`
    native.adoptOrphans()
    const { child, exited, said } = await start('sleep 100 & echo $!; exec sleep 0.05')
    const [code] = await exited
    const isAdopted = parentOf(said) === process.pid
    // Nothing but this keeps the process alive.
    const watch = setInterval(() => {}, 1_000)
    const told = new Promise((resolve) => process.once('SIGCHLD', resolve))
    native.hold(Number(said)).send(9)
    await told
    clearInterval(watch)
    native.reap(Number(said))
    let isThere = true
    try { parentOf(said) } catch { isThere = false }
    console.log(JSON.stringify({ code, isAdopted, isThere, has: [...native.mechanisms] }))`)
  expect(result).toMatchObject({ code: 0, isAdopted: true, isThere: false })
  expect((result as { has: string[] }).has).toContain('subreaper')
})

test('reaches a group whose leader has been reaped', () => {
  const result = inOwnProcess(`
    const { child, exited, said } = await start('sleep 100 & echo $!; exec sleep 100')
    const [leader, member] = [native.hold(child.pid), native.hold(Number(said))]
    leader.send(15)
    await exited
    const answer = leader.sendToGroup(9)
    if (answer !== null) await member.exited
    else member.send(9)
    console.log(JSON.stringify({ answer, has: native.mechanisms.has('group signal') }))`) as { answer: unknown; has: boolean }
  expect(result.answer).toBe(result.has ? true : null)
})

test('leaves a number alone that another process has by now', () => {
  const result = inOwnProcess(
    `
    import { writeFileSync } from 'node:fs'
    const first = await start('echo up; exec sleep 100')
    const held = native.hold(first.child.pid)
    held.send(9)
    await first.exited
    writeFileSync('/proc/sys/kernel/ns_last_pid', String(first.child.pid - 1))
    const stranger = await start('echo up; exec sleep 100')
    const answers = [held.send(9), held.sendToGroup(9)]
    const isSame = stranger.child.pid === first.child.pid
    const isThere = stranger.child.exitCode === null && stranger.child.signalCode === null
    stranger.child.kill('SIGKILL')
    const [, endedBy] = await stranger.exited
    console.log(JSON.stringify({ answers, isSame, isThere, endedBy }))`,
    ...unsharePids(),
  ) as { answers: unknown[] }
  expect(result).toMatchObject({ isSame: true, isThere: true, endedBy: 'SIGKILL' })
  expect(result.answers).not.toContain(true)
})

// B90
test('does without what a sandbox refuses', () => {
  const program = fileURLToPath(new URL('../../../../../test/programs/processes/without-pidfds.py', import.meta.url))
  const result = inOwnProcess(
    `
    native.adoptOrphans()
    console.log(JSON.stringify({ has: [...native.mechanisms], held: native.hold(process.pid) }))`,
    ...['python3', program],
  )
  expect(result).toEqual({ has: ['subreaper'], held: null })
})
