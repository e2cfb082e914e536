import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import type { Identity } from '../identity.js'
import { ownIdentity, platform } from '../platform/index.js'
import { withClaim } from './with-claim.js'

const own = ownIdentity()
/** A process that has exited, and whose pid is another process by now. */
const dead: Identity = { ...own, start: '1' }

/** The path of a claim that was left with this content. */
function claimOf(content?: unknown): string {
  const claim = join(temporaryDirectory(), '.claim')
  if (content !== undefined) leave(claim, content)
  return claim
}

function leave(claim: string, content: unknown): void {
  writeFileSync(claim, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
}

/** How often it did what it was to do under the claim. */
function count(claim: string): number {
  let times = 0
  withClaim(claim, () => times++)
  return times
}

const filesBeside = (claim: string) => readdirSync(join(claim, '..'))

async function startHolder(): Promise<{ holder: Identity; end(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const pid = child.pid as number
  const holder = { ...own, pid, start: platform.readStart(pid) }
  return {
    holder,
    async end() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

test('holds a claim with its own identity while it acts, and leaves nothing behind', () => {
  const claim = claimOf()
  let held: unknown
  withClaim(claim, () => {
    held = [filesBeside(claim), JSON.parse(readFileSync(claim, 'utf8'))]
  })
  expect(held).toEqual([['.claim'], own])
  expect(filesBeside(claim)).toEqual([])
})

test('leaves no claim behind when the action throws', () => {
  const claim = claimOf()
  const act = () => {
    throw new Error('the disk is full')
  }
  expect(() => withClaim(claim, act)).toThrow('the disk is full')
  expect(filesBeside(claim)).toEqual([])
})

test('does nothing under the claim of a live process, and takes it over as soon as that has died', async () => {
  const { holder, end } = await startHolder()
  const claim = claimOf(holder)
  expect(count(claim)).toBe(0)
  expect(JSON.parse(readFileSync(claim, 'utf8'))).toEqual(holder)
  expect(filesBeside(claim)).toEqual(['.claim'])
  await end()
  expect(count(claim)).toBe(1)
  expect(filesBeside(claim)).toEqual([])
})

// B55
test.each<[string, Identity]>([
  ['whose pid is another process by now', dead],
  ['of another boot, whatever runs under its pid today', { ...own, boot: 'another' }],
])('takes over the claim of a process %s', (_, holder) => {
  const claim = claimOf(holder)
  expect(count(claim)).toBe(1)
  expect(filesBeside(claim)).toEqual([])
})

const { boot: _, ...bootless } = dead
test.each<[string, unknown]>([
  ['that is empty', ''],
  ['that is half written', JSON.stringify(dead).slice(0, 40)],
  ['that is null', 'null'],
  ['that is a list', [dead]],
  ['without a pid', { ...dead, pid: undefined }],
  ['with a pid that is none', { ...dead, pid: -1 }],
  ['without a boot', bootless],
  ['without a start time', { ...dead, start: null }],
  ['of a live process that cannot read its boot id', { ...own, boot: null }],
  ['of another pid namespace', { ...dead, pidns: 'pid:[1]' }],
  // The kernel tells each time namespace another start time of one and the same process.
  ['of another time namespace', { ...dead, timens: 'time:[1]' }],
])('leaves a claim alone %s', (_, content) => {
  const claim = claimOf(content)
  const text = readFileSync(claim, 'utf8')
  expect(count(claim)).toBe(0)
  expect([filesBeside(claim), readFileSync(claim, 'utf8')]).toEqual([['.claim'], text])
})

test('leaves a claim alone that a live process has taken over from the dead one meanwhile', () => {
  const claim = claimOf(dead)
  const look = vi.spyOn(platform, 'readStart').mockImplementationOnce(() => {
    leave(claim, own)
    return null
  })
  onTestFinished(() => look.mockRestore())
  expect(count(claim)).toBe(0)
  expect(JSON.parse(readFileSync(claim, 'utf8'))).toEqual(own)
  expect(filesBeside(claim)).toEqual(['.claim'])
})

test('takes over a claim at which another one has died that was taking it over', () => {
  const claim = claimOf(dead)
  leave(`${claim}.${dead.pid}`, { ...dead, start: '2' })
  expect(count(claim)).toBe(1)
  expect(filesBeside(claim)).toEqual([])
})
