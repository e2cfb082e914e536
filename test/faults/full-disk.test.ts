import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeRunners, shareSuite } from '../contract/run-suite.js'
import { startProgram } from '../runtime/start-program.js'
import { temporaryDirectory } from '../runtime/temporary-directory.js'
import { inSandbox, ONLY_THE_STRANGER } from './in-sandbox.js'

const namespace = `${'0123456789abcdef'.repeat(2)}.q.1`

/** Lines of sh that put a file system of its own on a directory. */
const mounts = {
  'is read-only': { options: 'ro', fill: '' },
  'is full': { options: 'size=4k', fill: 'head -c 4096 /dev/zero > "$place/all"; ' },
  'has no inode left': { options: 'nr_inodes=1', fill: '' },
} as const

type Fault = keyof typeof mounts

function mountAt(place: string, fault: Fault): string {
  const { fill, options } = mounts[fault]
  return `place=${place}; mount -t tmpfs -o mode=0700,${options} tmpfs "$place"; ${fill}`
}

describe('a runtime does not start, and leaves nothing behind, where the directory of its', () => {
  test.each<[what: string, where: string, fault: Fault, named: string]>([
    ['locator', 'locators', 'is read-only', 'locators/locator.json: the file cannot be written (EROFS)'],
    ['locator', 'locators', 'is full', 'locators/locator.json: the file cannot be written (ENOSPC)'],
    ['locator', 'locators', 'has no inode left', 'locators/locator.json: the file cannot be written (ENOSPC)'],
    ['registry entry', 'run/registry', 'is read-only', '.json: the file cannot be written (EROFS)'],
    ['registry entry', 'run/registry', 'is full', '.json: the file cannot be written (ENOSPC)'],
    ['registry entry', 'run/registry', 'has no inode left', '.json: the file cannot be written (ENOSPC)'],
    ['socket', 'run/s', 'is read-only', 'locators/locator.json: its socket cannot be made (EROFS)'],
    ['socket', 'run/s', 'has no inode left', 'locators/locator.json: its socket cannot be made (ENOSPC)'],
  ])('%s (%s) %s', async (_what, where, fault, named) => {
    const base = temporaryDirectory()
    for (const name of ['locators', 'run', 'run/registry', 'run/s']) mkdirSync(join(base, name), { mode: 0o700 })
    const [file, ...args] = inSandbox(mountAt(join(base, where), fault))
    const program = startProgram('serving.js', {
      args: [join(base, 'locators/locator.json')],
      env: { TMPDIR: base, CHECKED: base, CUSTODY_NAMESPACE: `${namespace}:${join(base, 'run')}` },
      before: `exec ${[file, ...args].map((word) => `'${word}'`).join(' ')} "$@"`,
    })
    const [, json] = await program.printed(/^refused (.*)$/m)
    expect(JSON.parse(json as string)).toMatchObject({
      code: 'CUSTODY_PUBLICATION_FAILED',
      message: expect.stringContaining(named),
    })
    const [, left] = await program.printed(/^left there: (.*)$/m)
    const own = left?.split(' ').filter(Boolean)
    const made = ['locators', 'run', 'run/registry', 'run/s', ...(fault === 'is full' ? [`${where}/all`] : [])]
    expect(own?.sort()).toEqual(made.sort())
    expect(program.output).toMatch(ONLY_THE_STRANGER)
    expect(await program.exited).toEqual({ code: 3, signal: null })
  })
})

/** A run whose base directory has a file system of its own. */
const onDisk = (options: string) =>
  inSandbox(
    `export CHECKED="$TMPDIR/custody-0"; mkdir -m 700 "$CHECKED"; mount -t tmpfs -o mode=0700,${options} tmpfs "$CHECKED"`,
  )

describeRunners('a run whose directory', (runner) => {
  describe.each([
    ['is read-only', 'ro', 'custody-0: it cannot be written to (EROFS).'],
    ['cannot be made for want of an inode', 'nr_inodes=1', 'custody-0: it cannot be written to (ENOSPC).'],
    ['has too few inodes', 'nr_inodes=4', 'it cannot be written to (ENOSPC).'],
  ])('%s', (_, options, told) => {
    const suite = shareSuite(runner, () => ({ wrapper: onDisk(options), files: { any: `test('any', () => note('ran', true))` } }))

    test('runs no test, says why, and leaves nothing behind', () => {
      const { exitCode, notes, output } = suite()
      expect([exitCode, notes], output).toEqual([1, {}])
      expect(output).toContain('Could not use the directory')
      expect(output).toContain(told)
      expect(output).toMatch(/^left there: $/m)
      expect(output).toMatch(ONLY_THE_STRANGER)
    })
  })

  describe('is filled by the output of what it starts', () => {
    const suite = shareSuite(runner, () => ({
      wrapper: onDisk('size=1m'),
      files: {
        flooded: `
          const flood = ['sh', '-c', 'echo up; head -c 3000000 /dev/zero; echo full >&2; exec sleep 301']
          test('fills it', async () => {
            const { pid } = await custody.start({ name: 'flood', command: flood, ready: { log: 'up' } })
            note('flood', pid)
            while (fs.statfsSync(path.join(os.tmpdir(), 'custody-0')).bfree > 0) await new Promise((resolve) => setTimeout(resolve, 20))
          })
          test('leaves something', () => note('left', spawn('sleep', ['302'], { stdio: 'ignore' }).pid))`,
      },
    }))

    test('is red where something could not be noted, tells what was left all the same, and ends everything', () => {
      const { exitCode, notes, output, test } = suite()
      expect(exitCode, output).toBe(1)
      expect(test('fills it').messages).toMatch(/Could not note what came of .*fills it: ENOSPC: no space left on device/)
      expect(test('leaves something').messages + output).toContain(`pid ${notes['left']}  sleep 302 `)
      expect(output).toMatch(ONLY_THE_STRANGER)
      expect(output).toMatch(/^left there: $/m)
    })
  })
})
