import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { hasEnded, ownIdentity, temporaryBaseDirectory } from '@custody/runtime/internals'
import { removeDirectory } from '../platform/index.js'
import { type RunRecord, readRunRecord } from './run-record.js'
import { dropGroups, findLeft, sweepRun } from './sweep.js'

/** Milliseconds for what a dead run has left to obey. */
const GRACE_MS = 2_000

/**
 * Ends what dead runs have left, with proof that it was born in them, and removes their directories. A run is dead when its runner, its
 * supervisor and its sentinel are; one that this process cannot judge is left alone.
 *
 * @param root of the run that sweeps: what was left elsewhere is no news there
 * @returns a line for people about each of this root of which there was something to end
 */
export async function sweepDeadRuns(base: string, root: string): Promise<string[]> {
  const told: string[] = []
  for (const name of existsSync(base) ? readdirSync(base) : []) {
    const directory = join(base, name)
    try {
      const run = readRunRecord(directory)
      if (run !== null && isDead(run)) told.push(...(await sweepDeadRun(directory, run)).filter(() => run.root === root))
    } catch (error) {
      // The next run tries again. This one has nothing to do with it.
      told.push(`what a killed run left in ${directory} could not be cleaned up: ${(error as Error).message}`)
    }
  }
  return told
}

async function sweepDeadRun(directory: string, run: RunRecord): Promise<string[]> {
  const left = isOfThisBoot(run) ? await sweepLeft(directory, run) : 0
  const told = tell(run, endedAfter(directory), left)
  for (const path of isStorageOf(directory, run.storage) ? [run.storage, directory] : [directory]) {
    const mount = removeDirectory(path)
    if (mount !== null) throw new Error(`something is mounted at ${mount}`)
  }
  return told
}

/** What a file says is removed only where a run of ours can have put it, and where no other run is. */
function isStorageOf(directory: string, storage: string): boolean {
  if (storage === directory) return true
  const isPlaced = [dirname(directory), temporaryBaseDirectory()].includes(dirname(storage)) && resolve(storage) === storage
  return isPlaced && readRunRecord(storage) === null
}

async function sweepLeft(directory: string, run: RunRecord): Promise<number> {
  const found = findLeft(directory, run, [])
  if (found.length > 0) await sweepRun(directory, run, [], GRACE_MS)
  dropGroups(run)
  return found.length
}

function isDead({ runner, sentinel, supervisor }: RunRecord): boolean {
  const here = ownIdentity()
  if (runner.boot !== null && here.boot !== null && runner.boot !== here.boot) return true
  if (runner.pidns !== here.pidns || runner.timens !== here.timens || runner.start === null) return false
  return [runner, supervisor, sentinel].every((each) => each === null || hasEnded(each) === true)
}

function isOfThisBoot({ runner }: RunRecord): boolean {
  return runner.boot === ownIdentity().boot
}

/** How many runtimes the supervisor ended when its runner had gone. */
function endedAfter(directory: string): number {
  const path = join(directory, 'ended.jsonl')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).length : 0
}

function tell({ created, root }: RunRecord, ended: number, left: number): string[] {
  if (ended + left === 0) return []
  return [`the run of ${created} in ${root} was killed. Ended of its processes: ${ended} right after it, ${left} just now.`]
}
