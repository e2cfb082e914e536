import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gone, isAlive } from './alive.js'
import { type Noted, noteProcess, readNoted, until } from './noted.js'
import { type RunnerName, type RunningSuite, runners, runSuite } from './run-suite.js'

const body = `
  ${noteProcess}
  const server = path.join(programs, 'servers/answering-http.js')
  const answering = { scope: 'run', command: ['node', server], ports: ['http'], ready: { http: '/' } }
  const base = { ...answering, name: 'base', keepAcrossReruns: false }
  const kept = { ...answering, name: 'kept', keepAcrossReruns: true, env: { VERSION: fs.readFileSync('version', 'utf8') }, needs: [base] }
  const daemon = { ...answering, name: 'daemon', command: ['sh', '-c', 'setsid node ' + server + ' &'], daemonizes: true }
  test('uses them', async () => {
    const answers = await fetch((await custody.shared(daemon)).url)
    expect(answers.status).toBe(200)
    const [first, second, third] = [await custody.shared(kept), await custody.shared(base), await custody.shared({ ...answering, name: 'fresh' })]
    const pids = [first, second, third].map(({ pid }) => pid)
    for (const pid of pids) noteProcess(pid)
    note('run ' + fs.readFileSync('turn', 'utf8'), pids)
  })`

const notesOf = (directory: string) => {
  const path = join(directory, 'notes.jsonl')
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** What a runner says when it waits for changes. */
const waitingText: Record<RunnerName, string> = { vitest: 'Waiting for file changes', jest: 'Watch Usage' }

describe.each(runners)('a run that is watched by %s', (runner) => {
  test('keeps what is to be kept, with what that needs, until its definition changes, and ends all with the runner', async () => {
    const seen: Noted[][] = []
    const again = async (running: RunningSuite, turn: number, change: () => void) => {
      writeFileSync(join(running.directory, 'turn'), String(turn))
      change()
      await until(running, () => notesOf(running.directory).includes(`"run ${turn}"`))
      seen.push(readNoted(running.directory).slice(-3))
    }
    const touch = ({ directory }: RunningSuite) => {
      appendFileSync(join(directory, `watched.check.${runner === 'jest' ? 'cjs' : 'mjs'}`), '\n// touched\n')
    }
    const { output } = await runSuite(runner, {
      isWatched: true,
      files: { watched: body },
      extras: { version: 'v1', turn: '1' },
      during: async (running) => {
        await again(running, 1, () => {})
        const [kept, base, fresh] = seen[0] as [Noted, Noted, Noted]
        await gone(fresh)
        expect([kept, base].map(isAlive)).toEqual([true, true])
        await again(running, 2, () => touch(running))
        expect(seen[1]?.slice(0, 2)).toEqual([kept, base])
        await again(running, 3, () => {
          writeFileSync(join(running.directory, 'version'), 'v2')
          touch(running)
        })
        expect(seen[2]?.[0]).not.toEqual(kept)
        expect(isAlive(kept)).toBe(false)
        running.runner.kill('SIGINT')
      },
    })
    for (const each of seen.flat()) await gone(each)
    expect(output).not.toMatch(/CustodyError|Custody \S+ leaves/)
  })

  // B12
  test('ends all when q is pressed', async () => {
    const { directory } = await runSuite(runner, {
      isWatched: true,
      wrapper: ['python3', join(import.meta.dirname, '../programs/pressing-q.py'), waitingText[runner]],
      env: { CI: '' },
      files: { watched: body },
      extras: { version: 'v1', turn: '1' },
    })
    const seen = readNoted(directory)
    expect(seen).toHaveLength(3)
    for (const each of seen) await gone(each)
  })
})
