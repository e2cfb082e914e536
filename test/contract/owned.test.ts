import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAlive } from './alive.js'
import { runners, runSuite } from './run-suite.js'

describe.each(runners)('%s', (runner) => {
  test.each(['never', 'on-failure', 'always'] as const)(
    'retires a daemon after a passing and after a failing test, keep: %s',
    async (keep) => {
      const result = await runSuite(runner, {
        options: { keep },
        files: {
          both: `
          test('passes', async () => { expect(await leave('obeying')).toBeGreaterThan(1) })
          test('fails', async () => { await leave('obeying'); expect(1).toBe(2) })`,
        },
      })
      expect(result.test('passes').status).toBe('passed')
      expect(result.test('fails').status).toBe('failed')
      expect(result.exitCode).toBe(1)
      expect(result.summary).toMatchObject({ runtimes: 2, owned: 2, retired: 2, exitsObserved: 2 })
      for (const { identity } of result.receipts) expect(identity !== null && isAlive(identity)).toBe(false)
      expect(keptDirectories(result.base)).toBe({ never: 0, 'on-failure': 1, always: 2 }[keep])
    },
  )

  // B32, G04
  test('retires what execFileSync, spawnSync and execSync leave behind, although a finalizer removes its home first', async () => {
    const result = await runSuite(runner, {
      files: {
        sync: `
          let home
          beforeEach(() => { home = fs.mkdtempSync(path.join(os.tmpdir(), 'home-')) })
          afterEach(() => fs.rmSync(home, { recursive: true }))
          test('execFileSync', () => { execFileSync(process.execPath, command('obeying'), inHome(home)) })
          test('spawnSync', () => { expect(spawnSync(process.execPath, command('obeying'), inHome(home)).status).toBe(0) })
          test('execSync', () => { execSync([process.execPath, ...command('obeying')].join(' '), inHome(home)) })`,
      },
    })
    expect(result.exitCode, result.output).toBe(0)
    expect(result.summary).toMatchObject({ runtimes: 3, owned: 3, retired: 3, exitsObserved: 3 })
    expect(result.receipts.map(({ evidence }) => existsSync(evidence?.frozenPath as string))).toEqual([false, false, false])
  })

  test('says nothing and leaves nothing when nothing was started', async () => {
    const result = await runSuite(runner, {
      files: {
        quiet: `
          test('adds', () => expect(1 + 1).toBe(2))
          // Jest 30 decorates promises itself.
          if (${runner === 'vitest'}) test('compares promises', async () => { await null; expect({ p: Promise.resolve(1) }).toEqual({ p: Promise.resolve(1) }) })`,
      },
    })
    expect(result.exitCode, result.output).toBe(0)
    expect(result.output).not.toMatch(/^custody {2}/m)
    expect(readdirSync(join(result.base, `custody-${process.getuid?.()}`))).toEqual([])
  })
})

function keptDirectories(base: string): number {
  const own = join(base, `custody-${process.getuid?.()}`)
  return readdirSync(own).flatMap((run) => {
    const namespaces = join(own, run, 'ns')
    return existsSync(namespaces) ? readdirSync(namespaces) : []
  }).length
}
