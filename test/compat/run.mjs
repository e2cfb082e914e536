// Runs the contract with the packed tarballs on every supported runner, each installed as a user would, and in the engine that it needs.
// `--only vitest-5` takes the cells whose names begin so, as `vitest-5.1.2-bun-1.4.5` does, `--tests leaks,owned` some of the contract, and
// `--write` puts what was tested into the table of docs/compatibility.md: rows of cells that did not run stay as they are. `--quick` takes
// a part on the oldest and the newest runners.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { pack } from '../../scripts/pack.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const work = join(root, '.build/compat')

const cells = [
  // Vitest 3 ends the whole run when a worker dies: no other file runs, and no teardown.
  { runner: 'vitest', version: '3.2.7', vite: '7', pattern: '^(?!.*a worker that dies)', isQuick: true },
  { runner: 'vitest', version: '5.1.2', node: '24.22.3', isQuick: true },
  { runner: 'jest', version: '29.7.0', isQuick: true },
  // In full it is what `npm test` runs, but for the version of Node.
  { runner: 'jest', version: '30.5.2', node: '24.22.3', isShort: true, isQuick: true },
  // With a part of the contract: the versions that `npm test` has out of the workspace, and the other versions of Node.
  { runner: 'vitest', version: '4.1.12', vite: '7', isShort: true },
  { runner: 'jest', version: '30.5.2', isShort: true },
  { runner: 'vitest', version: '4.1.12', vite: '7', node: '22.23.5', isShort: true },
  { runner: 'vitest', version: '5.1.2', node: '26.12.1', isShort: true },
  { runner: 'jest', version: '29.7.0', node: '24.22.3', isShort: true },
  { runner: 'jest', version: '30.5.2', node: '22.23.5', isShort: true },
  { runner: 'jest', version: '30.5.2', node: '26.12.1', isShort: true },
  // Other engines, with the part of the contract that was tried there. Bun does not tell whether a child was sent a signal.
  { runner: 'vitest', version: '4.1.12', vite: '7', bun: '1.4.5', pattern: '^(?!.*sent a signal)' },
  { runner: 'vitest', version: '5.1.2', bun: '1.4.5', pattern: '^(?!.*sent a signal)' },
  { runner: 'vitest', version: '5.1.2', deno: '2.9.6' },
]

/** Where each engine comes from: the package for this platform that holds nothing else. */
const { arch, platform } = process
const engines = {
  node: { title: 'Node', from: `node-${platform}-${arch}`, binary: 'bin/node' },
  bun: { title: 'Bun', from: `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`, binary: 'bin/bun' },
  deno: {
    title: 'Deno',
    from: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    binary: 'deno',
    args: 'run -A',
  },
}

/**
 * The test files of a cell that runs all that depends on the version of the runner. What the supervisor does with a run that is killed or
 * lasts, and with trees of processes, is the same under each of them.
 */
const all = [
  'captured',
  'configuration',
  'failing-starts',
  'global-setups',
  'jest-as-before',
  'jest-concurrent',
  'jest-config',
  'jest-exactness',
  'jest-hooks',
  'jest-late',
  'jest-mocks',
  'jest-modes',
  'jest-reports',
  'jest-retries',
  'jest-transforms',
  'jest-ways',
  'leak-kinds',
  'leak-policy',
  'leak-runs',
  'leaks',
  'misbehaving',
  'no-false-reds',
  'owned',
  'projects',
  'reports',
  'scopes',
  'shared',
  'spies',
  'started',
  'vitest-cancelled',
  'vitest-debugger',
  'vitest-editors',
  'vitest-environments',
  'vitest-fixtures',
  'vitest-hooks',
  'vitest-modes',
  'vitest-pools',
  'vitest-reports',
  'vitest-stubs',
  'vitest-ui',
  'watch',
  '../matrix/runners',
]
/** Those of a cell that runs a part, by what the runner runs in: of other engines than Node what was tried there. */
const parts = {
  node: ['jest-concurrent', 'jest-exactness', 'leak-kinds', 'no-false-reds', 'owned'],
  bun: ['captured', 'leak-kinds', 'leaks', 'no-false-reds', 'owned', 'started'],
  deno: ['captured', 'no-false-reds', 'owned', 'started'],
}
const { values: only } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    tests: { type: 'string' },
    write: { type: 'boolean' },
    quick: { type: 'boolean' },
  },
})
if (only.write && (only.tests !== undefined || only.quick))
  throw new Error('The table says what was tested of the contract: --write takes neither --tests nor --quick.')
const isPart = (cell) => only.quick === true || cell.isShort === true || engineOf(cell).kind !== 'node'
const contractOf = (cell) =>
  (only.tests?.split(',') ?? (isPart(cell) ? parts[engineOf(cell).kind] : all)).map((name) =>
    join('test/contract', `${name}.test.ts`),
  )

const tarballs = pack()
const chosen = cells.filter((cell) => nameOf(cell).startsWith(only.only) && (!only.quick || cell.isQuick === true))
const results = chosen.map((cell) => ({ cell, isGreen: runCell(cell) }))
console.log('')
for (const { cell, isGreen } of results) {
  console.log(`${isGreen ? 'passed' : 'FAILED'}  ${cell.runner} ${cell.version} on ${titleOf(cell)}`)
}
if (only.write) writeTable(results)
process.exitCode = results.every(({ isGreen }) => isGreen) ? 0 : 1

/** What the runner of a cell runs in, and its version: this Node unless it says another. */
function engineOf(cell) {
  const kind = Object.keys(engines).find((each) => cell[each] !== undefined) ?? 'node'
  return { kind, version: cell[kind] ?? process.versions.node }
}

function nameOf(cell) {
  const { kind, version } = engineOf(cell)
  return `${cell.runner}-${cell.version}-${kind === 'node' ? '' : `${kind}-`}${version}`
}

function titleOf(cell) {
  const { kind, version } = engineOf(cell)
  return `${engines[kind].title} ${version}`
}

function runCell(cell) {
  const { pattern, runner, version, vite } = cell
  console.log(`\n── ${runner} ${version} on ${titleOf(cell)}`)
  const home = join(work, `${runner}-${version}`)
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  const own = tarballs.filter((path) => new RegExp(`custody-(runtime|core|${runner})-`).test(path))
  const tools = [`${runner}@${version}`, ...(vite ? [`vite@${vite}`] : [])]
  if (runner === 'vitest' && !isPart(cell)) {
    // With Vitest 3 the browser's provider is no package.
    const parts = ['coverage-v8', 'ui', ...(version.startsWith('3.') ? [] : ['browser-preview'])]
    tools.push(...parts.map((part) => `@vitest/${part}@${version}`), ...['happy-dom', 'jsdom'].map(asHere))
  }
  if (runner === 'jest' && !isPart(cell)) {
    const { jest: _, ...compilers } = devDependenciesOf('test/transforms/package.json')
    const ofJest = ['babel-jest', 'jest-environment-jsdom']
    const others = Object.keys(compilers).filter((name) => !ofJest.includes(name))
    tools.push(...ofJest.map((name) => `${name}@${version}`), ...others.map((name) => `${name}@${compilers[name]}`))
    tools.push(asHere('jest-junit'))
  }
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...own, ...tools], home)
  const { kind } = engineOf(cell)
  const { status } = spawnSync(
    'npx',
    ['--no-install', 'vitest', 'run', ...contractOf(cell), ...(pattern ? ['--testNamePattern', pattern] : [])],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        CUSTODY_CONTRACT_HOME: home,
        CUSTODY_CONTRACT_RUNNERS: runner,
        ...(cell[kind] && { CUSTODY_CONTRACT_ENGINE: binaryOf(kind, cell[kind]) }),
        ...(engines[kind].args && { CUSTODY_CONTRACT_ENGINE_ARGS: engines[kind].args }),
      },
    },
  )
  return status === 0
}

/** A package in the version that this repository has. */
function asHere(name) {
  return `${name}@${devDependenciesOf('package.json')[name]}`
}

function devDependenciesOf(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8')).devDependencies
}

/** The binary of another engine. */
function binaryOf(kind, version) {
  const { binary, from } = engines[kind]
  const directory = join(work, `${kind}-${version}`)
  const path = join(directory, 'node_modules', from, binary)
  if (existsSync(path)) return path
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true }')
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${from}@${version}`], directory)
  return path
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} exited with code ${status}`)
}

/** Puts what was tested between the marks of the page, a row for each cell. */
function writeTable(results) {
  const path = join(root, 'docs/compatibility.md')
  const marked = /(<!-- cells -->\n)([\s\S]*?)(\n<!-- \/cells -->)/
  const page = readFileSync(path, 'utf8')
  const before = marked
    .exec(page)[2]
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((text) => text.trim()),
    )
  const rows = cells.flatMap((cell) => {
    const key = [`${cell.runner === 'vitest' ? 'Vitest' : 'Jest'} ${cell.version}`, titleOf(cell)]
    const result = results.find((each) => each.cell === cell)
    if (result !== undefined) return [[...key, isPart(cell) ? 'a part' : 'all', result.isGreen ? 'green' : 'RED']]
    return before.filter(([runner, engine]) => runner === key[0] && engine === key[1])
  })
  const table = [['runner', 'runs in', 'of the contract', 'result'], ['---', '---', '---', '---'], ...rows]
  const text = table.map((row) => `| ${row.join(' | ')} |`).join('\n')
  writeFileSync(
    path,
    page.replace(marked, (_, from, _rows, to) => `${from}\n${text}\n${to}`),
  )
  run('npx', ['--no-install', 'biome', 'format', '--write', path], root)
}
