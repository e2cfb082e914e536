import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { majorOf, runInProject, runners, shareSuite } from './run-suite.js'

describe.runIf(runners.includes('vitest'))('other ways to run Vitest', () => {
  const suite = shareSuite('vitest', () => ({
    extras: {
      'lib.mjs': 'export const one = () => 1',
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "skipLibCheck": true, "module": "nodenext" }, "include": ["*.test-d.ts"] }',
      'types.test-d.ts': `import { expectTypeOf, test } from 'vitest'\ntest('is a number', () => { expectTypeOf(1).toBeNumber() })`,
      'speed.bench.mjs': `
        import * as vitest from 'vitest'
        const count = () => { let n = 0; while (n < 10) n++ }
        // Before Vitest 5 they are no tests.
        if (vitest.bench) vitest.bench('counts', count, { time: 10, iterations: 2, warmupTime: 0, warmupIterations: 0 })
        else vitest.test('speed', async ({ bench }) => { await bench('counts', count).run() })`,
    },
    files: {
      leaking: `
        import { one } from './lib.mjs'
        test('leaks', () => { one(); spawn('sleep', ['300'], { stdio: 'ignore' }) })`,
      // By its await Vitest's own look for leaks follows the call.
      green: `test('is green', async () => {
        await custody.start({ name: 'api', command: ['node', '-e', 'console.log("up"); setInterval(() => {}, 1e3)'], ready: { log: 'up' } })
      })`,
    },
  }))
  const run = (...args: string[]) => runInProject('vitest', suite(), args)

  // Vitest has it since 4.1.
  test.runIf(majorOf('vitest') >= 4)('what Vitest itself calls a leak is none of Custody’s', async () => {
    const { exitCode, output } = await run('run', '--detectAsyncLeaks', 'green')
    expect(exitCode, output).toBe(0)
    expect(output).toContain('1 runtime, ')
    expect(output).not.toMatch(/PROMISE|async leak/i)
  })

  test('shards keep what they found, and their merged report is red for it', async () => {
    const shards = []
    for (const shard of ['1/2', '2/2']) {
      shards.push(await run('run', '--reporter=blob', `--outputFile.blob=blobs/${shard[0]}.json`, `--shard=${shard}`))
    }
    expect(shards.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1])
    const { exitCode, output } = await run('run', '--merge-reports=blobs', '--reporter=verbose')
    expect(exitCode, output).toBe(1)
    expect(output).toContain('A process that this test started is still alive.')
    expect(output).toContain(suite().placeOf("spawn('sleep', ['300']"))
    expect(output).toMatch(/1 failed \| 1 passed/)
  })

  test('to list tests starts none, and leaves nothing', async () => {
    const { exitCode, output } = await run('list')
    expect(exitCode, output).toBe(0)
    expect(output).toContain('leaking.check.mjs > leaks')
    expect(output).not.toContain('custody  ')
  })

  test('repeated tests are judged each for itself', async () => {
    const { exitCode, output } = await run('run', '-t', 'is green', '--retry=2', '--sequence.hooks=list', '--sequence.shuffle')
    expect(exitCode, output).toBe(0)
  })

  test('a run that finds no test says so as without Custody', async () => {
    const { exitCode, output } = await run('run', 'there-is-none')
    expect(exitCode, output).toBe(1)
    expect(output).toContain('No test files found')
  })

  test('benchmarks run as without Custody', async () => {
    const { exitCode, output } = await run('bench', '--run')
    expect(exitCode, output).toBe(0)
    expect(output).toContain('counts')
    expect(output).not.toContain('custody  ')
  })

  test('coverage is that of the user’s files, and the page of the html reporter has the leak', async () => {
    const { exitCode, output } = await run(
      ...['run', '--coverage', '--coverage.reporter=text', '--coverage.include=*.mjs', '--coverage.reportOnFailure'],
      ...['--reporter=default', '--reporter=html', '--outputFile.html=page/index.html'],
    )
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/lib\.mjs +\| +100/)
    expect(output).not.toMatch(/custody.*\|/)
    // Vitest 5 has a place of its own for it.
    const meta = readdirSync(suite().directory, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('.json.gz'))
    const text = gunzipSync(readFileSync(join(suite().directory, meta ?? ''))).toString()
    expect(text).toContain('A process that this test started is still alive.')
  })

  test('types that are checked are left alone', async () => {
    const { exitCode, output } = await run('run', '--typecheck.only', '--typecheck.include=*.test-d.ts')
    expect(exitCode, output).toBe(0)
    expect(output).toMatch(/Type Errors +no errors/)
    expect(output).toMatch(/Tests +1 passed/)
    expect(output).not.toContain('custody  ')
  })

  test('nothing of all these is left on disk', () => {
    const runs = readdirSync(suite().base).filter((name) => name.startsWith('custody-'))
    expect(runs.flatMap((name) => readdirSync(join(suite().base, name)))).toEqual([])
  })
})
