import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSupervisor } from '../../../../test/programs/start-supervisor.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import type { Ready, StartSpec } from '../options/start-spec.js'
import { SupervisorLink } from '../supervisor/link.js'
import { LogFile } from './log-file.js'
import { start } from './start.js'
import { untilReady, type Watch, type WatchOptions } from './until-ready.js'

/** Waits for what has exited already, and has written a line and a file. */
function untilReadyAfterExit(conditions: readonly Ready[], changes: Partial<WatchOptions> = {}): Promise<Watch> {
  const cwd = temporaryDirectory()
  const [stdout, stderr] = [new LogFile(join(cwd, 'out')), new LogFile(join(cwd, 'err'))]
  writeFileSync(stdout.path, 'ready\n')
  writeFileSync(stderr.path, '')
  const notice = { id: 'r1', isDaemon: false, exit: { code: 0, signal: null }, expected: false }
  return untilReady(
    {
      ...{ ports: {}, url: null, hosts: ['127.0.0.1'], cwd, env: {}, logs: { stdout, stderr } },
      ...{ ownsPort: () => true, owns: () => true },
    },
    {
      ...{ conditions, readyMs: 20_000, daemonizes: false, mayExit: true },
      ...{ signal: new AbortController().signal, exit: Promise.resolve(notice) },
      ...changes,
    },
  )
}

test.each<[string, Ready[]]>([
  ['its line is in its output', [{ log: /ready/ }]],
  ['its file is there', [{ file: 'out' }]],
  ['all of its conditions hold', [{ log: 'ready' }, { exec: ['true'] }, { file: 'out' }]],
])('one that may exit is ready when %s, though it has exited', async (_, conditions) => {
  expect(await untilReadyAfterExit(conditions)).toMatchObject({ problem: null })
})

test.each<[string, Ready[]]>([
  ['its line is not in its output', [{ log: /up/ }]],
  ['its line is there too few times', [{ log: /ready/, count: 2 }]],
  ['its file is not there', [{ log: /ready/ }, { file: 'pid' }]],
  ['its command fails', [{ exec: ['false'] }]],
])('one that may exit has exited when %s', async (_, conditions) => {
  expect(await untilReadyAfterExit(conditions)).toMatchObject({ problem: 'it has exited', exit: { exit: { code: 0 } } })
})

test('one that must not exit has exited, whatever is in its output', async () => {
  expect(await untilReadyAfterExit([{ log: /ready/ }], { mayExit: false })).toMatchObject({ problem: 'it has exited' })
})

test('a program that prints its line and exits at once is ready each time', async () => {
  const { run, runDirectory } = await startSupervisor()
  const link = await SupervisorLink.open(runDirectory, { role: 'runner' })
  const spec: StartSpec = { name: 'printing', command: ['echo', 'ready'], onExit: 'ignore', ready: { log: /ready/ } }
  const scope = `${run.id}.shared` as const
  for (let time = 1; time <= 30; time++) {
    const runtime = await start(spec, {
      ...{ id: `${scope}.r${time}`, scope, runDirectory, dir: join(runDirectory, `dir-${time}`), root: '/', link },
      ...{ env: { PATH: process.env['PATH'] }, readyMs: 20_000, graceMs: 1_000, logs: 'never', streamed: [] },
      signal: new AbortController().signal,
    })
    expect(runtime.match?.[0]).toBe('ready')
    await runtime.stop()
  }
  await link.close()
})
