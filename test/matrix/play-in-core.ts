import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isCustodyError, ownIdentity } from '@custody/runtime/internals'
import { newBirth } from '../../packages/core/src/namespace/birth-state.js'
import { newFileId } from '../../packages/core/src/namespace/namespace-id.js'
import { parseOptions } from '../../packages/core/src/options/parse-options.js'
import { retireNow } from '../../packages/core/src/scope/inspect.js'
import type { RunHandle } from '../../packages/core/src/scope/run-handle.js'
import { Scope } from '../../packages/core/src/scope/scope.js'
import { sampleRun } from '../runtime/sample-run.js'
import { optionsOf } from './options.js'
import type { Outcome, Row, Scene } from './row.js'
import { Stage } from './stage.js'

/** Plays rows side by side, each in a run of its own, with nothing of a runner. All are arranged before the first is settled. */
export function playInCore(rows: readonly Row[]): Promise<Outcome>[] {
  const arranged = rows.map(arrange)
  const all = Promise.allSettled(arranged)
  return arranged.map(async (each) => {
    await all
    return settle(await each)
  })
}

interface Arranged {
  readonly stage: Stage
  readonly scene: Scene
  readonly test: Scope
  readonly file: Scope
}

async function arrange(row: Row): Promise<Arranged> {
  const outer = new Stage({ id: '', directory: '', mark: '', pid: process.pid })
  const run = newRun(outer.directory(), row)
  mkdirSync(join(run.directory, 'registry'), { mode: 0o700 })
  const file = Scope.openFile(run, newBirth(newFileId(run.id)), { path: () => '/a.test.ts', separator: ' > ' })
  const test = file.openTest(() => row.title)
  const { dir, env, id } = test.namespace
  const stage = new Stage({ id, directory: dir, mark: env['CUSTODY_NAMESPACE'] as string, pid: process.pid })
  stage.onEnd(() => outer.end())
  try {
    const scene = (await row.arrange(stage)) ?? {}
    await stage.begin()
    return { stage, scene, test, file }
  } catch (error) {
    await stage.end()
    throw error
  }
}

async function settle({ file, scene, stage, test }: Arranged): Promise<Outcome> {
  try {
    const begun = performance.now()
    const retired = await Promise.allSettled((scene.retired ?? []).map((path) => retireNow(test, path)))
    await test.capture()
    await scene.restore?.()
    const settlements = [await test.settle({ hasFailed: false }), await file.settle({ hasFailed: false })]
    const tookMs = performance.now() - begun
    return {
      receipts: [
        ...retired.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
        ...settlements.flatMap(({ receipts }) => receipts),
      ],
      failures: [
        ...retired.flatMap((each) => (each.status === 'rejected' ? [messageOf(each.reason)] : [])),
        ...settlements.flatMap(({ failures }) => failures.map(({ message }) => message)),
      ],
      ...(await stage.report()),
      tookMs,
    }
  } finally {
    await stage.end()
  }
}

function messageOf(error: unknown): string {
  if (!isCustodyError(error)) throw error
  return error.message
}

function newRun(directory: string, row: Row): RunHandle {
  // As old as this process, and the parent of none: otherwise whoever this process starts would be a worker.
  const runner = { ...ownIdentity(), pid: 2 ** 22 + 1 }
  return sampleRun(directory, { runner, options: parseOptions(optionsOf([row])) })
}
