// Runs the contract with the packed tarballs on every supported runner, each installed as a user would, and on the Node that it needs.
// `--only vitest-5` takes the cells whose names begin so, `--tests leaks,owned` some of the contract, and `--write` puts the table of what
// was tested into docs/compatibility.md.
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
  { runner: 'vitest', version: '3.2.7', vite: '7', pattern: '^(?!.*a worker that dies)' },
  { runner: 'vitest', version: '4.1.12', vite: '7' },
  { runner: 'vitest', version: '5.1.2', node: '24.22.3' },
  { runner: 'jest', version: '29.7.0' },
  { runner: 'jest', version: '30.5.2' },
  { runner: 'jest', version: '30.5.2', node: '24.22.3' },
  // The other versions of Node, with a part of the contract.
  { runner: 'vitest', version: '4.1.12', vite: '7', node: '22.23.5', isShort: true },
  { runner: 'vitest', version: '5.1.2', node: '26.12.1', isShort: true },
  { runner: 'jest', version: '29.7.0', node: '24.22.3', isShort: true },
  { runner: 'jest', version: '30.5.2', node: '22.23.5', isShort: true },
  { runner: 'jest', version: '30.5.2', node: '26.12.1', isShort: true },
]

// What happens when a run is killed is the supervisor's, and the same under each of them.
const names = [
  'captured',
  'configuration',
  'failing-starts',
  'leak-kinds',
  'leak-runs',
  'leaks',
  'misbehaving',
  'no-false-reds',
  'numbers',
  'owned',
  'projects',
  'scopes',
  'started',
  'vitest-environments',
  'vitest-fixtures',
  'vitest-hooks',
  'vitest-reports',
  'vitest-sessions',
]
const { values: only } = parseArgs({
  options: { only: { type: 'string', default: '' }, tests: { type: 'string' }, write: { type: 'boolean' } },
})
const short = ['leak-kinds', 'no-false-reds', 'owned']
const contractOf = (isShort) =>
  (only.tests?.split(',') ?? (isShort ? short : names)).map((name) => `test/contract/${name}.test.ts`)

const tarballs = pack()
const chosen = cells.filter(({ node, runner, version }) => `${runner}-${version}-${node ?? ''}`.startsWith(only.only))
const results = chosen.map((cell) => ({ ...cell, isGreen: runCell(cell) }))
console.log('')
for (const { isGreen, node, runner, version } of results) {
  console.log(`${isGreen ? 'passed' : 'FAILED'}  ${runner} ${version} on Node ${node ?? process.versions.node}`)
}
if (only.write) writeTable(results)
process.exitCode = results.every(({ isGreen }) => isGreen) ? 0 : 1

function runCell({ isShort = false, node, pattern, runner, version, vite }) {
  console.log(`\n── ${runner} ${version} on Node ${node ?? process.versions.node}`)
  const home = join(work, `${runner}-${version}`)
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  const own = tarballs.filter((path) => new RegExp(`custody-(runtime|core|${runner})-`).test(path))
  const tools = [`${runner}@${version}`, ...(vite ? [`vite@${vite}`] : [])]
  if (runner === 'vitest' && !isShort) tools.push(`@vitest/ui@${version}`, ...['happy-dom', 'jsdom'].map(asHere))
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...own, ...tools], home)
  const { status } = spawnSync(
    'npx',
    ['--no-install', 'vitest', 'run', ...contractOf(isShort), ...(pattern ? ['--testNamePattern', pattern] : [])],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        CUSTODY_CONTRACT_HOME: home,
        CUSTODY_CONTRACT_RUNNERS: runner,
        ...(node && { CUSTODY_CONTRACT_NODE: binaryOf(node) }),
      },
    },
  )
  return status === 0
}

/** A package in the version that this repository has. */
function asHere(name) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return `${name}@${devDependencies[name]}`
}

/** The binary of another Node, from the package that holds nothing else. */
function binaryOf(version) {
  const directory = join(work, `node-${version}`)
  const binary = join(directory, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node')
  if (existsSync(binary)) return binary
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true }')
  run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', `node-${process.platform}-${process.arch}@${version}`],
    directory,
  )
  return binary
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} exited with code ${status}`)
}

/** Puts what was tested between the marks of the page. */
function writeTable(results) {
  const path = join(root, 'docs/compatibility.md')
  const rows = results.map(({ isGreen, isShort, node, runner, version }) => {
    const name = runner === 'vitest' ? 'Vitest' : 'Jest'
    return [`${name} ${version}`, node ?? process.versions.node, isShort ? 'a part' : 'all', isGreen ? 'green' : 'RED']
  })
  const table = [['runner', 'Node', 'of the contract', 'result'], ['---', '---', '---', '---'], ...rows]
  const text = table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  const page = readFileSync(path, 'utf8').replace(
    /(<!-- cells -->\n)[\s\S]*?(\n<!-- \/cells -->)/,
    (_, from, to) => `${from}\n${text}\n${to}`,
  )
  writeFileSync(path, page)
  run('npx', ['--no-install', 'biome', 'format', '--write', path], root)
}
