import { execFileSync } from 'node:child_process'
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

test.each<[string, (directory: string) => string, string]>([
  ['is in no directory', (directory) => join(directory, 'missing/acts.jsonl'), 'ENOENT'],
  ['is a directory', (directory) => directory, 'EISDIR'],
  [
    'is a FIFO that nobody reads',
    (directory) => {
      execFileSync('mkfifo', [join(directory, 'fifo')])
      return join(directory, 'fifo')
    },
    'ENXIO',
  ],
  ['is a device', () => '/dev/null', 'it is no regular file'],
  ['is named from nowhere', () => 'acts.jsonl', 'its path is not absolute'],
])('says that it could not write where the file %s, and keeps nobody from acting', (_, place, reason) => {
  const file = place(temporaryDirectory())
  nameFile(file)
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  tellWitnesses(act)
  expect(write).toHaveBeenCalledWith(expect.stringContaining(`Custody could not write to CUSTODY_WITNESS ${file}: ${reason}`))
})

function nameFile(file: string): void {
  vi.stubEnv('CUSTODY_WITNESS', file)
  onTestFinished(() => void vi.unstubAllEnvs())
}
