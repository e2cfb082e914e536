import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runtimePlatform } from '@custody/runtime/internals'
import { describe, expect, test } from 'vitest'
import { sampleRun } from '../../../../test/runtime/sample-run.js'
import { type Program, startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { newBirth } from '../namespace/birth-state.js'
import { newFileId } from '../namespace/namespace-id.js'
import type { CustodyOptions } from '../options/options.js'
import { parseOptions } from '../options/parse-options.js'
import { readEvents } from '../report/events.js'
import type { RunHandle } from './run-handle.js'
import { type FileNames, Scope } from './scope.js'
import { longestMs, settleInTime } from './settle-in-time.js'

function newRun(options: CustodyOptions = {}): RunHandle {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'registry'), { mode: 0o700 })
  return sampleRun(directory, { options: parseOptions(options) })
}

const namesOf = (name: () => string): FileNames => ({ path: () => `/${name()}`, separator: ' > ' })

const openFile = (run: RunHandle = newRun()) =>
  Scope.openFile(
    run,
    newBirth(newFileId(run.id)),
    namesOf(() => 'a.test.ts'),
  )

/** All that is in a run's directory. */
const filesOf = ({ directory }: RunHandle) => readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()

/** Starts a daemon the way a test does, and waits until it has published. */
async function startDaemon({ birth, namespace }: Scope, name = 'obeying'): Promise<Program> {
  birth.spawned++
  const program = startProgram('daemons/daemon-saying-when-ready.js', { args: [name], env: { ...namespace.env } })
  await program.printed(/ready/)
  return program
}

describe('an idle scope', () => {
  test('leaves no file, and asks for no name', async () => {
    const run = newRun()
    const file = Scope.openFile(
      run,
      newBirth(newFileId(run.id)),
      namesOf(() => {
        throw new Error('nobody needs it')
      }),
    )
    const attempt = file.openTest(() => {
      throw new Error('nobody needs it')
    })
    for (const scope of [attempt, file]) {
      expect(scope.isIdle).toBe(true)
      await scope.capture()
      expect(await scope.settle({ hasFailed: false })).toEqual({ receipts: [], failures: [], late: [] })
    }
    expect(filesOf(run)).toEqual(['registry'])
  })

  test('is idle no more when something was started in it, or its directory was asked for', () => {
    const spawning = openFile()
    spawning.birth.spawned++
    const asking = openFile()
    void asking.namespace.dir
    const opening = openFile()
    opening.openSibling('b')
    expect([spawning, asking, opening].map(({ isIdle }) => isIdle)).toEqual([false, false, false])
  })
})

describe('a scope', () => {
  test('settles once, however often it is asked', async () => {
    const run = newRun({ keep: 'always' })
    const scope = openFile(run)
    void scope.namespace.dir
    expect(scope.isOver).toBe(false)
    const settling = scope.settle({ hasFailed: false })
    expect(scope.isOver).toBe(true)
    expect(scope.settle({ hasFailed: true })).toBe(settling)
    await settling
    expect(readEvents(run.directory)).toHaveLength(1)
  })

  test('has a namespace below that of its file, and each attempt another', () => {
    const file = openFile()
    const [first, second] = [file.openTest(() => 'a'), file.openTest(() => 'a')]
    expect([first.id, second.id]).toEqual([`${file.id}.1`, `${file.id}.2`])
    expect(first.openTest(() => 'b').id).toBe(`${file.id}.3`)
    expect(second.birth.above).toBe(file.birth)
  })

  test('has siblings that are neither above nor below it', () => {
    const file = openFile()
    const attempt = file.openTest(() => 'a')
    const sibling = attempt.openSibling('other')
    expect(sibling.id.startsWith(`${attempt.id}.`)).toBe(false)
    expect(attempt.id.startsWith(`${sibling.id}.`)).toBe(false)
    expect(sibling.id.startsWith(`${file.id}.`)).toBe(true)
    expect(sibling.name).toBe('a.test.ts > a › other')
    expect(sibling.birth.sites).toBe(attempt.birth.sites)
  })

  test('retires what was published in it, though its locator was moved away after the capture', async () => {
    const run = newRun()
    const attempt = openFile(run).openTest(() => 'a')
    const program = await startDaemon(attempt)
    await attempt.capture()
    rmSync(join(attempt.namespace.home, 'obeying.json'))
    for (const entry of readdirSync(join(run.directory, 'registry'))) rmSync(join(run.directory, 'registry', entry))
    const { failures, receipts } = await attempt.settle({ hasFailed: false })
    expect(failures).toEqual([])
    expect(receipts).toMatchObject([{ name: 'obeying', verdict: 'owned', exit: 'observed', signals: [], test: 'a.test.ts > a' }])
    expect(await program.exited).toEqual({ code: 0, signal: null })
    expect(readEvents(run.directory)).toMatchObject([{ type: 'receipt', receipt: { name: 'obeying' } }])
  })

  test('retires what was published after its capture', async () => {
    const attempt = openFile().openTest(() => 'a')
    void attempt.namespace.dir
    await attempt.capture()
    const program = await startDaemon(attempt)
    expect((await attempt.settle({ hasFailed: false })).receipts).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })

  test("leaves alone what is its file's, which retires it", async () => {
    const file = openFile()
    const attempt = file.openTest(() => 'a')
    void attempt.namespace.dir
    const program = await startDaemon(file)
    await attempt.capture()
    expect((await attempt.settle({ hasFailed: false })).receipts).toEqual([])
    expect(runtimePlatform.readStart(program.pid)).not.toBe(null)
    expect((await file.settle({ hasFailed: false })).receipts).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })

  test('settles its siblings with it', async () => {
    const attempt = openFile().openTest(() => 'a')
    const program = await startDaemon(attempt.openSibling('b'))
    await attempt.capture()
    expect((await attempt.settle({ hasFailed: false })).receipts).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })

  test('is red for a runtime that was left, where none may be, and still retires it', async () => {
    const attempt = openFile(newRun({ published: 'fail' })).openTest(() => 'a')
    const program = await startDaemon(attempt)
    const { failures } = await attempt.settle({ hasFailed: false })
    expect(failures).toMatchObject([{ code: 'CUSTODY_RUNTIME_LEFT' }])
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })
})

describe('the directory of a scope', () => {
  test.each([
    ['never', true, false],
    ['on-failure', false, false],
    ['on-failure', true, true],
    ['always', false, true],
  ] as const)('with keep: %j after a failure (%s) is kept: %s', async (keep, hasFailed, isKept) => {
    const run = newRun({ keep })
    const attempt = openFile(run).openTest(() => 'a')
    const { dir } = attempt.namespace
    writeFileSync(join(dir, 'file'), '')
    expect((await attempt.settle({ hasFailed })).failures).toEqual([])
    expect(existsSync(dir)).toBe(isKept)
    expect(readEvents(run.directory)).toEqual(isKept ? [{ type: 'kept', path: dir, by: 'a.test.ts > a' }] : [])
  })
})

describe('a fault of a teardown', () => {
  test('is a failure of the scope: the hook of the runner does not throw', async () => {
    const run = newRun({ keep: 'always' })
    const scope = openFile(run)
    void scope.namespace.dir
    mkdirSync(join(run.directory, 'events.jsonl'))
    const { failures, receipts } = await scope.settle({ hasFailed: false })
    expect(receipts).toEqual([])
    expect(failures).toMatchObject([
      { code: 'CUSTODY_TEARDOWN_FAILED', facts: { scope: 'a.test.ts' }, cause: { code: 'EISDIR' } },
    ])
  })

  test('is none when the supervisor could not be reached, which whoever asked for it was told', async () => {
    const run = newRun()
    writeFileSync(join(run.directory, 'supervisor.json'), 'garbage', { mode: 0o600 })
    const file = openFile(run)
    await expect(file.openTest(() => 'a').lease()).rejects.toMatchObject({ code: 'CUSTODY_SUPERVISOR_UNREACHABLE' })
    expect(await file.settle({ hasFailed: true })).toEqual({ receipts: [], failures: [], late: [] })
  })
})

describe('a teardown', () => {
  test('ends though something that was begun never does, and says so', async () => {
    const scope = openFile()
    void scope.whileStarting(() => new Promise<never>(() => {}))
    const { failures } = await settleInTime(scope, null, false, 50)
    expect(failures).toMatchObject([{ code: 'CUSTODY_TEARDOWN_FAILED', facts: { scope: 'a.test.ts', limitMs: 50 } }])
  })

  test('has as much time as its steps have, and those of its siblings', async () => {
    const { run } = openFile(newRun({ timeouts: { teardownMs: 1_000, exitMs: 100 } }))
    const idle = { run, siblings: new Map(), uses: new Map() }
    const busy = { ...idle, uses: new Map(['api', 'db'].map((id) => [id, { graceMs: 60_000 }])) }
    expect(longestMs(idle)).toBeGreaterThan(1_100)
    expect(longestMs(busy)).toBe(longestMs(idle) + 120_000)
    expect(longestMs({ ...idle, siblings: new Map([['other', busy]]) })).toBeGreaterThan(longestMs(busy))
  })

  test('waits for what ends', async () => {
    const scope = openFile()
    const untilAborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))
    const starting = scope.whileStarting(untilAborted)
    expect((await settleInTime(scope, null, false)).failures).toEqual([])
    await starting
  })
})
