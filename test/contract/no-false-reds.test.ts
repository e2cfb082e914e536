import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeRunners, type RunnerName, shareSuite } from './run-suite.js'

const esbuild = fileURLToPath(import.meta.resolve('esbuild'))

/** esbuild does not run in a realm of Jest. */
const withTool: Record<RunnerName, string> = {
  vitest: `
    test('uses the service of esbuild', async () => {
      const { transform } = await import(${JSON.stringify(esbuild)})
      expect((await transform('let a: number = 1', { loader: 'ts' })).code).toContain('let a = 1')
    })
    test('uses it once more', async () => {
      const { transform } = await import(${JSON.stringify(esbuild)})
      expect((await transform('let b: number = 1', { loader: 'ts' })).code).toContain('let b = 1')
    })`,
  jest: '',
}

const fake: Record<RunnerName, string> = { vitest: 'vi.useFakeTimers()', jest: 'jest.useFakeTimers()' }
const mock: Record<RunnerName, string> = {
  vitest: `vi.mock('node:child_process', () => ({ spawn: () => 'mocked', default: { spawn: () => 'mocked' } }))
    const mocked = () => import('node:child_process')`,
  jest: `jest.doMock('node:child_process', () => ({ spawn: () => 'mocked' }))
    const mocked = async () => { jest.resetModules(); return require('node:child_process') }`,
}

/** What ordinary suites do with processes. */
const suites = (runner: RunnerName): Record<string, string> => ({
  ordinary: `
    const exited = (child) => new Promise((resolve) => child.once('exit', resolve))
    const server = ['-e', "require('net').createServer().listen(0, () => console.log('up'))"]
    const listening = async () => {
      const child = spawn('node', server, { stdio: ['ignore', 'pipe', 'ignore'] })
      await new Promise((resolve) => child.stdout.once('data', resolve))
      return child
    }
    test('waits for a child', () => exited(spawn('node', ['-e', '0'])))
    test('runs commands to their ends', () => {
      spawnSync('true')
      execSync('true')
      expect(execFileSync('echo', ['a'], { encoding: 'utf8' })).toBe('a\\n')
    })
    test('runs one through a shell', () => new Promise((resolve) => { childProcess.exec('echo a | cat', resolve) }))
    describe('a server for each test', () => {
      let child
      beforeEach(async () => { child = await listening() })
      afterEach(async () => { child.kill(); await exited(child) })
      test('is there', () => expect(child.exitCode).toBe(null))
      test('is there again', () => expect(child.exitCode).toBe(null))
    })
    describe('a server for all tests', () => {
      let child
      beforeAll(async () => { child = await listening() })
      // Nobody waits for its exit.
      afterAll(() => { child.kill() })
      test('is there', () => expect(child.exitCode).toBe(null))
    })
    test.concurrent('runs beside another', () => exited(spawn('sleep', ['0.2'])))
    test.concurrent('runs beside one', () => exited(spawn('sleep', ['0.1'])))
    let tries = 0
    retried('passes at last', async () => {
      await exited(spawn('true'))
      if (tries++ === 0) throw new Error('on purpose')
    })
    test('cannot start what is not there', async () => {
      const child = spawn('there-is-no-such-program')
      await new Promise((resolve) => child.once('error', resolve))
    })
    test('leaves a thread', async () => {
      const { Worker } = ${runner === 'jest' ? "require('node:worker_threads')" : "await import('node:worker_threads')"}
      const worker = new Worker('setInterval(() => {}, 1e3)', { eval: true })
      worker.unref()
      await new Promise((resolve) => worker.once('online', resolve))
    })
    test('leaves a helper that ends with it, as pools of workers do', async () => {
      fs.writeFileSync('helper.cjs', "process.on('message', (m) => process.send(m)); process.on('disconnect', () => process.exit())")
      const helper = childProcess.fork('helper.cjs', { stdio: 'ignore' })
      const answer = new Promise((resolve) => helper.once('message', resolve))
      helper.send('ping')
      expect(await answer).toBe('ping')
      helper.unref()
      // Bun's has none.
      helper.channel.unref?.()
    })
    test('runs a pipeline', async () => {
      const [a, b] = [spawn('echo', ['a']), spawn('cat')]
      a.stdout.pipe(b.stdin)
      await exited(b)
    })
    ${withTool[runner]}`,
  faked: `
    beforeAll(() => { ${fake[runner]} })
    test('has a child under fake timers', async () => {
      const child = spawn('true')
      await new Promise((resolve) => child.once('exit', resolve))
    })
    test('has one that is just exiting, under fake timers', () => { spawn('sleep', ['0.2'], { stdio: 'ignore' }) })`,
  posing: `
    const real = process.platform
    const posing = (platform) => Object.defineProperty(process, 'platform', { value: platform })
    afterEach(() => { posing(real) })
    test('plays another system', () => { posing('win32'); spawnSync('true') })`,
  'another-file-system': `
    afterEach(() => {
      ${runner === 'jest' ? 'jest' : 'vi'}.restoreAllMocks()
      syncBuiltinESMExports()
    })
    const fake = (name, value) => ${runner === 'jest' ? 'jest' : 'vi'}.spyOn(fs, name).mockImplementation(value)
    test('has files of its own', () => {
      spawnSync('true')
      for (const name of ['readFileSync', 'readdirSync', 'statSync', 'lstatSync', 'openSync', 'realpathSync']) {
        fake(name, () => { throw Object.assign(new Error('no such file'), { code: 'ENOENT' }) })
      }
      syncBuiltinESMExports()
      expect(() => fs.readFileSync('x')).toThrow('no such file')
    })
    test('has the true ones again', () => expect(fs.existsSync('.')).toBe(true))`,
  mocked: `
    ${mock[runner]}
    test('starts nothing', async () => expect((await mocked()).spawn('x')).toBe('mocked'))`,
})

const withVi = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, body]) => [
      name,
      `import { vi } from 'vitest'\nimport { syncBuiltinESMExports } from 'node:module'\n${body}`,
    ]),
  )

const withModule = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, body]) => [name, `const { syncBuiltinESMExports } = require('node:module')\n${body}`]),
  )

describeRunners('an ordinary suite', (runner) => {
  const files = suites(runner)
  const suite = shareSuite(runner, () => ({ files: runner === 'vitest' ? withVi(files) : withModule(files) }), 120_000)

  test('is green as it was, and nothing is said', () => {
    const { exitCode, output, tests } = suite()
    expect(exitCode, output).toBe(0)
    expect(tests.filter(({ status }) => status !== 'passed')).toEqual([])
    expect(tests).toHaveLength(runner === 'vitest' ? 21 : 19)
    expect(output).not.toContain('custody  ')
  })
})
