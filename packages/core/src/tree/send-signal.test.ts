import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bundleScript } from '../../../../test/programs/bundle-script.js'
import { unsharePids } from '../../../../test/programs/unshare.js'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { collectActs } from '../../../../test/witness/collect-acts.js'
import { type SignalTarget, sendSignal } from './send-signal.js'
import { stopTree } from './stop-tree.js'

const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })

/**
 * Runs a script in a pid namespace of its own, where numbers are small, nobody else lives, and the next number can be chosen.
 * What it prints is JSON.
 */
function inPidNamespace(script: string): unknown {
  const preamble = `
    import { spawn } from 'node:child_process'
    import { once } from 'node:events'
    import { writeFileSync } from 'node:fs'
    import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
    import { addWitness } from '../witness/witness.js'
    import { sendSignal } from './send-signal.js'
    import { stopTree } from './stop-tree.js'
    const identityOf = (pid) => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })
    const start = async (options = {}) => {
      const child = spawn('sleep', ['1000'], { stdio: 'ignore', ...options })
      await once(child, 'spawn')
      return child
    }
    const end = async (child) => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
    const sent = []
    addWitness(({ signal }) => sent.push(signal))
    /** Another process that has the number of this one, which has ended. */
    const replace = async (child, options) => {
      await end(child)
      writeFileSync('/proc/sys/kernel/ns_last_pid', String(child.pid - 1))
      const stranger = await start(options)
      if (stranger.pid !== child.pid) throw new Error('the number was not reused')
      return stranger
    }
    /** Whether start times differ: they are counted in hundredths of a second. */
    const isNextTick = async (than) => {
      for (;;) {
        const probe = await start()
        const { start: now } = identityOf(probe.pid)
        await end(probe)
        if (now !== than) return
      }
    }`
  const program = bundleScript(`${preamble}\n${script}`, fileURLToPath(new URL('.', import.meta.url)))
  // The first process there is a shell: the script has both that and itself to leave alone.
  const [file, ...args] = unsharePids()
  const output = execFileSync(file, [...args, process.execPath, '--input-type=module'], {
    encoding: 'utf8',
    input: program,
    timeout: 30_000,
    killSignal: 'SIGKILL',
  })
  return JSON.parse(output)
}

test('reaches the very process', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const seen = collectActs()
  const target: SignalTarget = { kind: 'process', identity: identityOf(program.pid), proof: 'seen at birth' }
  expect(sendSignal('SIGINT', target)).toBe(true)
  expect(await program.exited).toEqual({ code: null, signal: 'SIGINT' })
  const { pid, start } = target.identity
  expect(seen).toEqual([{ act: 'signal', signal: 'SIGINT', to: 'process', pid, start, proof: 'seen at birth' }])
})

test('says that nothing was sent to one that has ended', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const identity = identityOf(program.pid)
  program.child.kill('SIGKILL')
  await program.exited
  const seen = collectActs()
  expect(sendSignal('SIGTERM', { kind: 'process', identity, proof: 'seen at birth' })).toBe(false)
  expect(sendSignal('SIGTERM', { kind: 'group', leader: identity })).toBe(false)
  // Nobody has that number now, and so no start time: that is not the same as one that is not known.
  expect(sendSignal('SIGTERM', { kind: 'process', identity: { ...identity, start: null }, proof: 'seen at birth' })).toBe(false)
  expect(seen).toEqual([])
})

test('sends nothing without a start time, or with another one', async () => {
  const program = startProgram('processes/counting-signals.js')
  await program.printed(/ready/)
  const identity = identityOf(program.pid)
  const seen = collectActs()
  for (const start of [null, '1']) {
    expect(sendSignal('SIGTERM', { kind: 'process', identity: { ...identity, start }, proof: 'seen at birth' })).toBe(false)
    expect(sendSignal('SIGTERM', { kind: 'group', leader: { ...identity, start } })).toBe(false)
  }
  expect(seen).toEqual([])
})

// B41
test('leaves a reused pid alone, as a process and as a group', () => {
  const result = inPidNamespace(`
    const first = await start({ detached: true })
    const identity = identityOf(first.pid)
    await isNextTick(identity.start)
    const stranger = await replace(first, { detached: true })
    const answers = [
      sendSignal('SIGKILL', { kind: 'process', identity, proof: 'seen at birth' }),
      sendSignal('SIGKILL', { kind: 'group', leader: identity }),
    ]
    const stopped = await stopTree({
      mark: { namespace: 'none', files: [], known: [identity] },
      leader: { identity, isUnreaped: () => true }, spared: [], stopSignal: 'SIGTERM', graceMs: 0,
    })
    // The same words, to the one who is there.
    const isThere = sendSignal('SIGKILL', { kind: 'process', identity: identityOf(stranger.pid), proof: 'seen at birth' })
    const [, endedBy] = await once(stranger, 'exit')
    console.log(JSON.stringify({ answers, stopped, isThere, endedBy, sent }))`)
  expect(result).toEqual({
    answers: [false, false],
    stopped: { signals: [], forced: false, left: [] },
    isThere: true,
    endedBy: 'SIGKILL',
    sent: ['SIGKILL'],
  })
})

// B41
test('sends nothing to the numbers that mean many, the first process, itself, or nobody', () => {
  // Inside of a namespace of their own: a mistake here would otherwise end the machine's processes.
  const result = inPidNamespace(`
    const bystander = await start()
    const own = ownIdentity()
    const starts = [own.start, identityOf(1).start, identityOf(bystander.pid).start, '1', '', 'NaN']
    const numbers = [-1, 0, 1, own.pid, -bystander.pid, NaN, Infinity, 1.5, 2 ** 22 + 1, 2 ** 31, 2 ** 32 + bystander.pid]
    const answers = numbers.flatMap((pid) => starts.flatMap((start) => ['process', 'group'].map((kind) => {
      const identity = { ...own, pid, start }
      return sendSignal('SIGKILL', { kind, identity, leader: identity })
    })))
    const isAlive = identityOf(bystander.pid).start !== null
    await end(bystander)
    console.log(JSON.stringify({ answers: [...new Set(answers)], count: answers.length, isAlive, sent }))`)
  expect(result).toEqual({ answers: [false], count: 132, isAlive: true, sent: [] })
})

test('reaches the group of a leader that has ended and was not reaped yet', () => {
  const result = inPidNamespace(`
    // The parent never asks how its child ended, so that this goes on to hold its number. Its group has another member.
    const parent = spawn('/bin/sh', ['-c', 'setsid sh -c "sleep 1000 & echo \\\\$\\\\$ \\\\$!" & exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [line] = await once(parent.stdout.setEncoding('utf8'), 'data')
    const [leader, member] = line.trim().split(' ').map(Number)
    const identity = identityOf(leader)
    const startOf = (pid) => runtimePlatform.readStart(pid)
    while (startOf(leader) !== null) await new Promise(setImmediate)
    const holder = { ...ownIdentity(), pid: leader, start: process.getBuiltinModule('fs').readFileSync('/proc/' + leader + '/stat', 'latin1').split(') ')[1].split(' ')[19] }
    const asProcess = sendSignal('SIGKILL', { kind: 'process', identity: holder, proof: 'seen at birth' })
    const asGroup = sendSignal('SIGKILL', { kind: 'group', leader: holder })
    while (startOf(member) !== null) await new Promise(setImmediate)
    await end(parent)
    console.log(JSON.stringify({ asProcess, asGroup, sent, hadNumber: holder.start.length > 0 }))`)
  expect(result).toEqual({ asProcess: false, asGroup: true, sent: ['SIGKILL'], hadNumber: true })
})

test('reaches the group of a leader that was held, though it has been reaped', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const leader = identityOf(program.pid)
  const sent: number[] = []
  const sendToGroup = (signal: number) => sent.push(signal) > 0
  const held = { send: () => false, sendToGroup, exited: program.exited.then(() => {}), release() {} }
  program.child.kill('SIGKILL')
  await program.exited
  expect(sendSignal('SIGTERM', { kind: 'group', leader, held })).toBe(true)
  expect(sent).toEqual([15])
})

test('sends nothing to the group of a leader that was held and has been reaped, where a group cannot be held', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const leader = identityOf(program.pid)
  const held = { send: () => false, sendToGroup: () => null, exited: program.exited.then(() => {}), release() {} }
  program.child.kill('SIGKILL')
  await program.exited
  const kill = vi.spyOn(process, 'kill')
  onTestFinished(() => kill.mockRestore())
  expect(sendSignal('SIGTERM', { kind: 'group', leader, held })).toBe(false)
  expect(kill).not.toHaveBeenCalled()
})

// B79. What macOS answers for a group of which only zombies are left, and Linux for another user's process.
test('says that nothing was sent where that is not permitted, and takes it for no end', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const identity = identityOf(program.pid)
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  })
  onTestFinished(() => kill.mockRestore())
  expect(sendSignal('SIGTERM', { kind: 'process', identity, proof: 'seen at birth' })).toBe(false)
  expect(sendSignal('SIGTERM', { kind: 'group', leader: identity })).toBe(false)
  const leader = { identity, exited: program.exited, held: null, isUnreaped: () => true }
  const options = {
    mark: { namespace: 'none', files: [], known: [identity] },
    leader,
    spared: [],
    stopSignal: 'SIGTERM' as const,
  }
  expect(await stopTree({ ...options, graceMs: 0 })).toEqual({ signals: [], forced: false, left: [identity] })
  program.child.kill('SIGKILL')
  await program.exited
  // Of one that has ended there is nothing left, whatever the system says to the signal.
  expect(await stopTree({ ...options, graceMs: 0 })).toEqual({ signals: [], forced: false, left: [] })
})

test('reports a fault of the call, like a signal that does not exist', async () => {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const target: SignalTarget = { kind: 'process', identity: identityOf(program.pid), proof: 'seen at birth' }
  expect(() => sendSignal('SIGNONE' as NodeJS.Signals, target)).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_SIGNAL' }))
})
