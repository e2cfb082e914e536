import { readFileSync } from 'node:fs'
import { ownIdentity } from '@custody/runtime/internals'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type SignalTarget, sendSignal } from '../../packages/core/src/tree/send-signal.js'
import { startProgram } from '../runtime/start-program.js'
import { collectActs } from '../witness/collect-acts.js'
import { check } from './check.js'

/** What the kernel says now, read without a line of the product; null for nobody and for a zombie. */
function startOf(pid: number): string | null {
  try {
    const [, tail = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(/\) (?=\w )/)
    const fields = tail.split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

test('no number leads to a signal but that of a live process with its start time', async () => {
  // Nobody gets one here, whatever goes wrong: what would be sent is only written down.
  const sent: { number: number; signal: string | number | undefined }[] = []
  const kill = vi.spyOn(process, 'kill').mockImplementation((number, signal) => {
    sent.push({ number, signal })
    return true
  })
  const told = collectActs()
  onTestFinished(() => kill.mockRestore())
  const programs = [startProgram('processes/waiting.js'), startProgram('processes/waiting.js')]
  await Promise.all(programs.map((program) => program.printed(/ready/)))
  const ended = startProgram('processes/waiting.js')
  await ended.printed(/ready/)
  const endedStart = startOf(ended.pid)
  ended.child.kill('SIGKILL')
  await ended.exited

  const live = programs.map(({ pid }) => pid)
  const known = [...live, ended.pid, process.pid, process.ppid, 1]
  const pids = fc.oneof(
    fc.constantFrom(...known),
    fc.constantFrom(...known).map((pid) => -pid),
    fc.constantFrom(...known).map((pid) => pid + 2 ** 32),
    fc.constantFrom(...known).map((pid) => pid + 0.5),
    fc.constantFrom(-1, 0, -0, Number.NaN, Infinity, -Infinity, 2 ** 31 - 1, 2 ** 31, 2 ** 53),
    fc.integer(),
    fc.double(),
  )
  const starts = fc.oneof(
    fc.constantFrom(...known.map(startOf), endedStart),
    fc.constantFrom('', '0', '1', 'NaN', 'null'),
    fc.string(),
    fc.constant(null),
  )
  const isNow = fc.constantFrom(...known).map((pid): [number, string | null] => [pid, startOf(pid)])
  const pairs = fc.oneof(fc.tuple(pids, starts), isNow)
  const targets = fc.tuple(pairs, fc.constantFrom('process', 'group')).map(([[pid, start], kind]): SignalTarget => {
    const identity = { ...ownIdentity(), pid, start }
    return kind === 'group' ? { kind: 'group', leader: identity } : { kind: 'process', identity, proof: 'environment' }
  })

  let reached = 0
  await check(
    fc.property(targets, fc.constantFrom('SIGTERM', 'SIGKILL', 'SIGSTOP', 'SIGCONT'), (target, signal) => {
      sent.length = told.length = 0
      const { pid, start } = target.kind === 'group' ? target.leader : target.identity
      // That the parent of this process is spared is for whoever searches.
      const mayReach = pid > 1 && pid !== process.pid && Number.isSafeInteger(pid) && start !== null && startOf(pid) === start
      expect(sendSignal(signal, target)).toBe(mayReach)
      expect(sent).toEqual(mayReach ? [{ number: target.kind === 'group' ? -pid : pid, signal }] : [])
      const proof = target.kind === 'group' ? 'own child' : 'environment'
      expect(told).toEqual(mayReach ? [{ act: 'signal', signal, to: target.kind, pid, start, proof }] : [])
      if (mayReach) reached++
    }),
    1_000,
  )
  expect(reached).toBeGreaterThan(50)
})
