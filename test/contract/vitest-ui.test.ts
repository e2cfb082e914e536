import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Summary } from '@custody/core'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { allGone, leaksAndStarts, ONE_RED } from './leaks-and-starts.js'
import { until } from './noted.js'
import { type RunningSuite, runners, shareSuite } from './run-suite.js'

const program = fileURLToPath(new URL('../programs/asking-a-websocket.js', import.meta.url))

describe.runIf(runners.includes('vitest'))('the user interface of Vitest', () => {
  const outcomes: unknown[] = []
  const suite = shareSuite('vitest', async () => {
    const port = await freePort()
    return {
      isWatched: true,
      args: ['--ui', '--open=false', '--api.host=127.0.0.1', `--api.port=${port}`, '--api.strictPort'],
      config: `
        import { writeFileSync } from 'node:fs'
        import { custodyPlugin } from '@custody/vitest/plugin'
        const tell = { name: 'tell', configureVitest: ({ vitest }) => writeFileSync('token', vitest.config.api.token) }
        export default { plugins: [custodyPlugin({ report: { json: 'custody.json' }, timeouts: { exitMs: 100 } }), tell], test: { include: ['*.check.mjs'], testTimeout: 30_000 } }`,
      files: { page: leaksAndStarts() },
      during: async (running) => {
        const { directory, runner } = running
        outcomes.push(await nextOutcome(running))
        const url = `ws://127.0.0.1:${port}/__vitest_api__?token=${readFileSync(join(directory, 'token'), 'utf8')}`
        await callApi(url, 'rerun', [join(directory, 'page.check.mjs')])
        outcomes.push(await nextOutcome(running))
        runner.kill('SIGTERM')
      },
    }
  })

  test('shows a leak red, also when it is asked for another run', () => {
    const each = { tests: ONE_RED, summary: { started: 1, exitsObserved: 1, leaked: 1 } }
    expect(outcomes, suite().output).toMatchObject([each, each])
  })

  test('leaves nothing when its runner is ended', () => allGone(suite(), 4))
})

/** Waits until a runner that watches has ended a run, and takes its reports away. */
async function nextOutcome(running: RunningSuite): Promise<{ tests: Readonly<Record<string, string>>; summary: Summary }> {
  const [results, custody] = await Promise.all(['results.json', 'custody.json'].map((name) => takeReport(running, name)))
  return { tests: outcomeOf(results as Results), summary: (custody as { summary: Summary }).summary }
}

interface Results {
  testResults: { assertionResults: { title: string; status: string }[] }[]
}

async function takeReport(running: RunningSuite, name: string): Promise<unknown> {
  const path = join(running.directory, name)
  let report: unknown = null
  await until(running, () => {
    report = existsSync(path) ? parse(readFileSync(path, 'utf8')) : null
    return report !== null
  })
  rmSync(path)
  return report
}

/** Null while it is being written. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function outcomeOf({ testResults }: Results): Readonly<Record<string, string>> {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  return Object.fromEntries(all.map(({ status, title }) => [title, status]))
}

/** Calls a function of Vitest's API as its page does: birpc in flatted, where each text stands by itself. */
async function callApi(url: string, name: string, texts: readonly string[]): Promise<void> {
  const list = texts.map((_, at) => String(at + 6))
  const message = [{ m: '1', a: '2', i: '3', t: '4' }, name, ['5'], 'id', 'q', list, ...texts]
  await execa(process.execPath, ['--experimental-websocket', program, url, JSON.stringify(message)])
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
