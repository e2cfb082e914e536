import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import type { Allowance } from '../options/options.js'
import { type InitialVariable, platform } from '../platform/index.js'
import { exemptAmong, exemptScopes, readExemptions } from './exemptions.js'
import { EXEMPTIONS_FILE, type Exemption, writeExemption } from './write-exemption.js'

const scope = 'a'.repeat(32)
const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: '5' })
const allowance = (program: string, until: Allowance['until']): Allowance => ({ argv: [program], reason: 'it stays', until })
const nothing = { allow: [], commonHelpers: false }

/** Has the system show these commands, and the namespaces that they were born in. */
function play(processes: Readonly<Record<number, { command: readonly string[]; variable?: string }>>): readonly Identity[] {
  const spies = [
    vi.spyOn(platform, 'readCommand').mockImplementation((pid) => processes[pid]?.command ?? []),
    vi.spyOn(platform, 'readInitialVariable').mockImplementation((pid): InitialVariable => {
      const value = processes[pid]?.variable
      return value === undefined ? 'absent' : { value }
    }),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return Object.keys(processes).map((pid) => identityOf(Number(pid)))
}

const pidsOf = (found: readonly Identity[], ...rest: [Parameters<typeof exemptAmong>[1], readonly Exemption[]]) =>
  exemptAmong(found, ...rest).known.map(({ pid }) => pid)

test('gives back what was written, and nothing where nothing was', () => {
  const directory = temporaryDirectory()
  expect(readExemptions(directory)).toEqual([])
  const written: Exemption[] = [
    { type: 'scope', scope, known: [ownIdentity()] },
    { type: 'processes', known: [] },
  ]
  for (const each of written) writeExemption(directory, each)
  expect(readExemptions(directory)).toEqual(written)
})

test('tells of the others though a worker was killed while it wrote', () => {
  const directory = temporaryDirectory()
  const [cut, whole]: Exemption[] = [
    { type: 'scope', scope, known: [] },
    { type: 'processes', known: [ownIdentity()] },
  ]
  appendFileSync(join(directory, EXEMPTIONS_FILE), JSON.stringify(cut).slice(0, -1))
  writeExemption(directory, whole as Exemption)
  expect(readExemptions(directory)).toEqual([whole])
})

test('does not take exemptions that cannot be read for none: what is exempt would be ended', () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, EXEMPTIONS_FILE))
  expect(() => readExemptions(directory)).toThrow(expect.objectContaining({ code: 'EISDIR' }))
})

test('exempts the scopes of which nothing is ended, with those that were known of them', () => {
  const known = [identityOf(5)]
  expect(
    exemptScopes([
      { type: 'scope', scope, known },
      { type: 'processes', known },
    ]),
  ).toEqual([{ namespace: scope, files: [], known }])
})

test('exempts the processes that were named, and none that was not', () => {
  const found = play({ 5: { command: ['node', 'a.js'] } })
  const known = [identityOf(6)]
  expect(pidsOf(found, nothing, [{ type: 'processes', known }])).toEqual([6])
  expect(pidsOf(found, nothing, [{ type: 'scope', scope, known }])).toEqual([])
})

test('exempts what is allowed to stay, but for what may stay only until the end of the run', () => {
  const found = play({ 5: { command: ['cached'] }, 6: { command: ['served'] }, 7: { command: ['other'] } })
  const allow = [allowance('cached', 'forever'), allowance('served', 'run')]
  expect(pidsOf(found, { ...nothing, allow }, [])).toEqual([5])
})

test('exempts what a test allows where that test has started it, and not elsewhere', () => {
  const found = play({
    5: { command: ['cached'], variable: `${scope}.1:/run/x` },
    6: { command: ['cached'], variable: `${scope}0:/run/x` },
    7: { command: ['cached'] },
  })
  expect(pidsOf(found, nothing, [{ type: 'allowed', scope, allowance: allowance('cached', 'forever') }])).toEqual([5])
})

test('exempts the helpers of common tools where they are', () => {
  const found = play({ 5: { command: ['/usr/bin/ssh-agent'] }, 6: { command: ['node'] } })
  expect(pidsOf(found, { ...nothing, commonHelpers: true }, [])).toEqual([5])
  expect(pidsOf(found, nothing, [])).toEqual([])
})
