import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { CustodyOptions, Receipt, Summary } from '@custody/core'
import type { Identity } from '@custody/runtime'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { gone } from './alive.js'

export type RunnerName = 'vitest' | 'jest'

/** The runners that the contract holds for. A compatibility run names one, and where it is installed. */
export const runners: readonly RunnerName[] = (process.env['CUSTODY_CONTRACT_RUNNERS']?.split(',') as
  | RunnerName[]
  | undefined) ?? ['vitest', 'jest']

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const home = process.env['CUSTODY_CONTRACT_HOME'] ?? repository
const engine = process.env['CUSTODY_CONTRACT_ENGINE'] ?? process.execPath
/** Words that the engine needs before the program: Deno's `run -A`. */
const engineArgs = process.env['CUSTODY_CONTRACT_ENGINE_ARGS']?.split(' ') ?? []
const isDeno = engineArgs[0] === 'run'

export interface Suite {
  /** Test files by name, without their ending: the body of each, for both runners. */
  files: Readonly<Record<string, string>>
  options?: CustodyOptions
  /** Environment variables of the runner. */
  env?: Readonly<Record<string, string>>
  /** Arguments for the runner. */
  args?: readonly string[]
  /** The whole configuration file instead of the usual one. */
  config?: string
  /** More files of the project, by name, as they are. */
  extras?: Readonly<Record<string, string>>
  /** What to start instead of the runner: a program that is given the runner's command line, and becomes it. */
  wrapper?: readonly [string, ...string[]]
  /** Whether the runner watches the files. `during` ends it. */
  isWatched?: boolean
  /** Acts while the suite runs: called when the runner has started. */
  during?: (running: RunningSuite) => Promise<void>
}

/** A suite that runs now. */
export interface RunningSuite {
  /** The project's directory. */
  readonly directory: string
  /** Where the run keeps its things. */
  readonly base: string
  /** The runner's main process: whoever acts on it has its handle. */
  readonly runner: Pick<ChildProcess, 'exitCode' | 'signalCode' | 'kill' | 'pid'>
}

export interface TestOutcome {
  readonly title: string
  readonly status: 'passed' | 'failed' | 'skipped' | 'pending' | 'todo'
  readonly messages: string
}

export interface SuiteResult {
  readonly exitCode: number | undefined
  /** What ended the runner, if a signal did. */
  readonly signal: string | undefined
  readonly tests: readonly TestOutcome[]
  /** What was said about whole files. */
  readonly fileMessages: string
  readonly output: string
  readonly summary: Summary
  readonly receipts: readonly Receipt[]
  /** What the suite's tests noted, by name. */
  readonly notes: Readonly<Record<string, unknown>>
  /** The project's baseline, if it has one. */
  readonly baseline: unknown
  /** The project's directory; gone after the test. */
  readonly directory: string
  /** What is left of the run in its base directory. */
  readonly base: string
  test(title: string): TestOutcome
  /** The receipts of runtimes of this name. */
  receiptsOf(name: string): Receipt[]
  /** Where a piece of a test file stands, as stacks name it: `<file>:<line>`. */
  placeOf(piece: string): string
  /** Ends the daemons that were left alone, and waits until they are gone. */
  release(left: readonly Identity[]): Promise<void>
}

/** What became of the tests of a suite, by title. */
export function statusesOf({ tests }: Pick<SuiteResult, 'tests'>): Readonly<Record<string, string>> {
  return Object.fromEntries(tests.map(({ status, title }) => [title, status]))
}

/** The major version of a runner, as its package has it. */
export function majorOf(runner: RunnerName): number {
  const { version } = JSON.parse(readFileSync(join(packageDirectory(runner), 'package.json'), 'utf8')) as { version: string }
  return Number(version.split('.')[0])
}

/** Runs a suite with the real binary of a runner, in a project of its own, and tells what an onlooker sees. */
export function runSuite(runner: RunnerName, suite: Suite): Promise<SuiteResult> {
  return run(runner, suite, onTestFinished)
}

/** A describe block for each runner, side by side: with `shareSuite` both have their suites run at once, as they wait more than they work. */
export function describeRunners(title: string, define: (runner: RunnerName) => void): void {
  describe(title, () => describe.concurrent.each(runners)('%s', define))
}

/** Runs one suite for several tests of a describe block. */
export function shareSuite(
  runner: RunnerName,
  prepare: () => Suite | Promise<Suite>,
  timeoutMs: number = 240_000,
): () => SuiteResult {
  const removals: (() => Promise<void>)[] = []
  let result: SuiteResult
  beforeAll(async () => {
    result = await run(runner, await prepare(), (remove) => removals.push(remove))
  }, timeoutMs)
  afterAll(async () => {
    for (const remove of removals) await remove()
  })
  return () => result
}

/** Runs the binary of a runner once more in the project of a suite, with arguments of its own. */
export async function runInProject(
  runner: RunnerName,
  { base, directory }: Pick<SuiteResult, 'base' | 'directory'>,
  args: readonly string[],
): Promise<{ exitCode: number | undefined; output: string; stdout: string }> {
  const {
    all: output,
    exitCode,
    stdout,
  } = await execa(engine, [...engineArgs, binaryOf(runner), ...args], {
    ...{ cwd: directory, env: { ...cleanEnvironment(), TMPDIR: base }, extendEnv: false },
    ...{ reject: false, all: true, stdin: 'ignore' },
  })
  return { exitCode, output, stdout }
}

/** What is left alive of runtimes after a run. */
export function leftOf(receipts: readonly Receipt[]): Identity[] {
  return receipts.flatMap(({ exit, identity }) => (exit === 'not observed' && identity !== null ? [identity] : []))
}

async function run(runner: RunnerName, suite: Suite, onEnd: (remove: () => Promise<void>) => void): Promise<SuiteResult> {
  const directory = newProject(runner, suite)
  // A base directory of its own shows what a run leaves behind.
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cc-')))
  onEnd(async () => {
    for (const path of [directory, base]) await removeDirectory(path)
  })
  const release = join(base, 'release')
  const [file, ...args] = [
    ...(suite.wrapper ?? []),
    engine,
    ...engineArgs,
    ...commands[runner](suite.isWatched ?? false),
    ...(suite.args ?? []),
  ] as [string]
  const running = execa(file, args, {
    cwd: directory,
    env: { ...cleanEnvironment(), TMPDIR: base, RELEASE: release, ...suite.env },
    extendEnv: false,
    reject: false,
    all: true,
    stdin: 'ignore',
  })
  try {
    await Promise.race([running, suite.during?.({ directory, base, runner: running }) ?? running])
  } catch (error) {
    // With its runner ends what it has started.
    running.kill('SIGKILL')
    throw error
  }
  const { exitCode, signal, all: output } = await running
  const json = readJson(join(directory, 'results.json')) as RunnerJson | undefined
  const report = readJson(join(directory, 'custody.json')) as { summary: Summary; events: { receipt?: Receipt }[] } | undefined
  const tests = (json?.testResults ?? []).flatMap(({ assertionResults }) =>
    assertionResults.map(({ failureMessages, status, title }) => ({
      title,
      status,
      messages: (failureMessages ?? []).join('\n'),
    })),
  )
  const receipts = (report?.events ?? []).flatMap(({ receipt }) => receipt ?? [])
  return {
    exitCode,
    signal,
    tests,
    fileMessages: (json?.testResults ?? []).map(({ message }) => message ?? '').join('\n'),
    output,
    summary: report?.summary as Summary,
    receipts,
    notes: Object.fromEntries(readLines(join(directory, 'notes.jsonl')).map((line) => JSON.parse(line))),
    baseline: readJson(join(directory, 'custody-baseline.json')),
    directory,
    base,
    test(title) {
      const found = tests.find((test) => test.title === title)
      if (found === undefined) throw new Error(`There is no test "${title}" in this output:\n${output}`)
      return found
    },
    receiptsOf: (name) => receipts.filter((receipt) => receipt.name === name),
    placeOf(piece) {
      for (const name of readdirSync(directory).filter((name) => name.includes('.check.'))) {
        const at = readFileSync(join(directory, name), 'utf8')
          .split('\n')
          .findIndex((line) => line.includes(piece))
        if (at >= 0) return `${name}:${at + 1}`
      }
      throw new Error(`No test file has ${piece}`)
    },
    async release(left) {
      writeFileSync(release, '')
      await Promise.all(left.map(gone))
    },
  }
}

/** When a runner was ended from outside, its supervisor may still write into a directory that is being removed. */
async function removeDirectory(path: string): Promise<void> {
  for (;;) {
    try {
      return rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    }
    await setTimeout(20)
  }
}

interface RunnerJson {
  testResults: {
    message?: string
    assertionResults: { title: string; status: TestOutcome['status']; failureMessages?: string[] }[]
  }[]
}

const binaries: Readonly<Record<RunnerName, string>> = { vitest: 'vitest.mjs', jest: 'bin/jest.js' }

function binaryOf(runner: RunnerName): string {
  return join(packageDirectory(runner), binaries[runner])
}

const commands: Record<RunnerName, (isWatched: boolean) => string[]> = {
  vitest: (isWatched) => [
    binaryOf('vitest'),
    ...[isWatched ? 'watch' : 'run', '--reporter=default', '--reporter=json', '--outputFile.json=results.json'],
  ],
  jest: (isWatched) => [
    binaryOf('jest'),
    ...['--json', '--outputFile=results.json', '--ci', ...(isWatched ? ['--watchAll', '--watchman=false'] : [])],
  ],
}

function packageDirectory(name: string): string {
  return dirname(createRequire(join(home, 'package.json')).resolve(`${name}/package.json`))
}

/** Where a tool is that a Jest suite names in its configuration: an environment, a reporter, or what compiles its files. */
export function pathOfTool(name: string): string {
  const own = process.env['CUSTODY_CONTRACT_HOME'] ?? join(repository, 'test/transforms')
  const from = [own, home].map((directory) => createRequire(join(directory, 'package.json')))
  for (const { resolve: find } of from) {
    try {
      return find(name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new Error(`${name} is not installed.`)
}

function newProject(runner: RunnerName, { config, extras = {}, files, options = {} }: Suite): string {
  const work = join(home, 'test/.work')
  mkdirSync(work, { recursive: true })
  const directory = mkdtempSync(join(work, `${runner}-`))
  writeFileSync(join(directory, 'package.json'), '{}')
  const complete = { ...options, report: { json: 'custody.json', ...options.report } }
  writeFileSync(join(directory, `${runner}.config.mjs`), config ?? configs[runner](complete))
  for (const [name, body] of Object.entries(files)) {
    writeFileSync(join(directory, `${name}.check.${runner === 'jest' ? 'cjs' : 'mjs'}`), `${headers[runner]}\n${body}\n`)
  }
  for (const [name, text] of Object.entries(extras)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  return directory
}

const configs: Record<RunnerName, (options: CustodyOptions) => string> = {
  vitest: (options) => `
import { custodyPlugin } from '@custody/vitest/plugin'
export default { plugins: [custodyPlugin(${JSON.stringify(options)})], test: { include: ['*.check.mjs'], testTimeout: 30_000, hookTimeout: 30_000 } }`,
  jest: (options) => `
import { withCustody } from '@custody/jest/config'
export default withCustody({ testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: import.meta.dirname }, ${JSON.stringify(options)})`,
}

const programs = join(repository, 'test/programs')

/**
 * What the body of a test file finds: the runner's functions, a few built-ins, `leave`, which runs a command that leaves a daemon, and
 * `note`, which tells the onlooker something.
 */
const shared = `
const programs = ${JSON.stringify(programs)}
const command = (...args) => [path.join(programs, 'left-by-a-command.js'), ...args]
// Under Deno a command that has left a daemon by fork does not end: Node runs it.
const node = ${JSON.stringify(isDeno ? process.execPath : engine)}
const leave = async (...args) => Number((await custody.exec(node, command(...args))).stdout)
const inHome = (home) => ({ encoding: 'utf8', env: { ...process.env, HOME: home } })
const leaveIn = (home, ...args) => Number(execFileSync(node, command(...args), inHome(home)))
const newHome = () => fs.mkdtempSync(path.join(os.tmpdir(), 'home-'))
const note = (name, value) => fs.appendFileSync('notes.jsonl', JSON.stringify([name, value]) + '\\n')
// A zombie has none.
const isAlive = (pid) => fs.existsSync('/proc/' + pid + '/exe')`

const headers: Record<RunnerName, string> = {
  vitest: `
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { custody } from '@custody/vitest'
import childProcess, { execFileSync, execSync, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
const retried = (title, fn) => test(title, { retry: 1 }, fn)
const failing = test.fails
const limited = (title, fn) => test(title, { timeout: 1_500 }, fn)
${shared}`,
  jest: `
const { custody } = require('@custody/jest')
const childProcess = require('node:child_process')
const { execFileSync, execSync, spawn, spawnSync } = childProcess
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const retried = (title, fn) => { jest.retryTimes(1); test(title, fn) }
const failing = test.failing
const limited = (title, fn) => test(title, fn, 1_500)
${shared}`,
}

/** The environment of a person at a terminal: nothing of the runner that runs this. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = /^(VITEST|JEST|CUSTODY(?!_WITNESS$)|NODE_OPTIONS|NODE_ENV|TEST$|MODE$|PROD$|DEV$|SSR$|BASE_URL$|XDG_RUNTIME_DIR)/
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)))
  const level = process.env['CUSTODY_CONTRACT_LEVEL']
  return { ...env, NO_COLOR: '1', CI: 'true', ...(level !== undefined && { CUSTODY_LEVEL: level }) }
}

function readLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
