import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { type Act, addWitness, tellWitnesses } from './witness.js'

const act: Act = { act: 'signal', signal: 'SIGTERM', to: 'group', pid: 4_194_305, start: '1', proof: 'own child' }

test('tells who listens, until it is taken away', () => {
  const acts: Act[] = []
  const remove = addWitness((each) => acts.push(each))
  tellWitnesses(act)
  remove()
  tellWitnesses(act)
  expect(acts).toEqual([act])
})

test('adds a line to the file that the environment names, with who acts', () => {
  const file = join(temporaryDirectory(), 'acts.jsonl')
  nameFile(file)
  tellWitnesses(act)
  tellWitnesses({ ...act, signal: 'SIGKILL' })
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { by: process.pid, pidns: ownIdentity().pidns, ...act },
    { by: process.pid, pidns: ownIdentity().pidns, ...act, signal: 'SIGKILL' },
  ])
})

test('says that it could not write, and keeps nobody from acting', () => {
  const file = join(temporaryDirectory(), 'missing/acts.jsonl')
  nameFile(file)
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  tellWitnesses(act)
  expect(write).toHaveBeenCalledWith(expect.stringContaining(`Custody could not write to CUSTODY_WITNESS ${file}: ENOENT`))
})

function nameFile(file: string): void {
  vi.stubEnv('CUSTODY_WITNESS', file)
  onTestFinished(() => void vi.unstubAllEnvs())
}
