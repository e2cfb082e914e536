import type { Identity } from '@custody/runtime'
import { clock, Deadline, ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, test } from 'vitest'
import { type Program, startProgram } from '../../../../test/runtime/start-program.js'
import { observeExit } from './observe-exit.js'

const never = new Promise<void>(() => {})
const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })
const soon = () => Deadline.after(100)
const late = () => Deadline.after(20_000)

async function start(before?: string): Promise<{ program: Program; identity: Identity }> {
  const program = startProgram('processes/waiting.js', before === undefined ? {} : { before })
  await program.printed(/ready/)
  return { program, identity: identityOf(program.pid) }
}

test('observes the exit of a process whose connection ends with it', async () => {
  const { identity, program } = await start()
  const observed = observeExit(
    identity,
    program.exited.then(() => {}),
    late(),
  )
  program.child.kill('SIGKILL')
  expect(await observed).toBe(true)
})

test('observes an exit that no end of a connection tells of', async () => {
  const { identity, program } = await start()
  const observed = observeExit(identity, never, late())
  program.child.kill('SIGKILL')
  expect(await observed).toBe(true)
})

test('does not take the end of its connection for its exit', async () => {
  const { identity } = await start()
  expect(await observeExit(identity, Promise.resolve(), soon())).toBe(false)
})

test('goes on to look at a process that lives on after its connection has ended', async () => {
  const { identity, program } = await start()
  const observed = observeExit(identity, Promise.resolve(), late())
  let isSettled = false
  void observed.then(() => {
    isSettled = true
  })
  // It has looked several times by then, and has seen it alive.
  for (const begun = clock.now(); clock.now() - begun < 100; ) await new Promise(setImmediate)
  expect(isSettled).toBe(false)
  program.child.kill('SIGKILL')
  expect(await observed).toBe(true)
})

test('says that it has seen no exit when the time is over, whether the connection has ended or not', async () => {
  const { identity } = await start()
  const begun = clock.now()
  expect(await observeExit(identity, never, soon())).toBe(false)
  // It does not wait for its own next look.
  expect(clock.now() - begun).toBeLessThan(240)
  expect(runtimePlatform.readStart(identity.pid)).toBe(identity.start)
})

test('looks once even when the time is over already', async () => {
  const { identity, program } = await start()
  expect(await observeExit(identity, never, Deadline.after(0))).toBe(false)
  program.child.kill('SIGKILL')
  await program.exited
  expect(await observeExit(identity, never, Deadline.after(0))).toBe(true)
})

test('takes a zombie for one that has exited: its parent has only not asked yet', async () => {
  const { program } = await start('/bin/sleep 1000 & echo "child $!"')
  const child = identityOf(Number((await program.printed(/child (\d+)/))[1]))
  expect(child.start).not.toBe(null)
  process.kill(child.pid, 'SIGKILL')
  expect(await observeExit(child, never, late())).toBe(true)
})

test('takes a process with another start for another one', async () => {
  const { identity } = await start()
  expect(await observeExit({ ...identity, start: '1' }, never, soon())).toBe(true)
})
