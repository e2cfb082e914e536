// The main job: the example suites under the real runners, and what Custody has to say about them.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const suites = [
  { example: 'taskd' },
  { example: 'two-namespaces', keep: 'never' },
  { example: 'two-namespaces', keep: 'always' },
  // One server for each of its two workers.
  { example: 'postgres', servers: 2 },
]
const runners = {
  vitest: { file: 'vitest/vitest.mjs', args: ['run'], nodeOptions: '' },
  jest: { file: 'jest/bin/jest.js', args: [], nodeOptions: '--experimental-vm-modules --no-warnings=ExperimentalWarning' },
}

// What the suites keep is for the suites: nothing of it stays on the machine.
const temporary = mkdtempSync(join(tmpdir(), 'examples-'))
// As root, PostgreSQL runs as somebody else, who has to get to its directory in there.
chmodSync(temporary, 0o711)
const rows = suites.flatMap((suite) => Object.keys(runners).map((runner) => run(suite, runner)))
rmSync(temporary, { recursive: true, force: true })
print(rows)
process.exitCode = rows.every(({ forced, isGreen, leaks }) => isGreen && leaks === 0 && forced === 0) ? 0 : 1

function run({ example, keep, servers = 0 }, runner) {
  const directory = join(root, 'examples', example)
  const { args, file, nodeOptions } = runners[runner]
  const binary = join(dirname(createRequire(join(directory, 'package.json')).resolve(`${runner}/package.json`)), '..', file)
  const report = join(directory, 'custody-report.json')
  rmSync(report, { force: true })
  console.log(`\n── ${example} under ${runner}${keep ? `, keep: ${keep}` : ''}`)
  const { status } = spawnSync(process.execPath, [binary, ...args], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: nodeOptions, ...(keep && { KEEP: keep }) },
  })
  const { summary } = JSON.parse(readFileSync(report, 'utf8'))
  return {
    example,
    keep: keep ?? 'on-failure',
    runner,
    isGreen: status === 0 && summary.started === servers,
    leaks: summary.owned - summary.retired,
    ...summary,
  }
}

function print(rows) {
  const columns = {
    example: (row) => row.example,
    runner: (row) => row.runner,
    keep: (row) => row.keep,
    suite: (row) => (row.isGreen ? 'green' : 'RED'),
    runtimes: (row) => row.runtimes,
    started: (row) => row.started,
    owned: (row) => row.owned,
    foreign: (row) => row.foreign,
    retired: (row) => row.retired,
    'exits observed': (row) => row.exitsObserved,
    forced: (row) => row.forced,
    leaks: (row) => row.leaks,
  }
  const table = [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((read) => String(read(row))))]
  const widths = Object.keys(columns).map((_, at) => Math.max(...table.map((line) => line[at].length)))
  console.log('')
  for (const line of table)
    console.log(
      line
        .map((cell, at) => cell.padEnd(widths[at]))
        .join('  ')
        .trimEnd(),
    )
}
