import { describe, expect, test } from 'vitest'
import { describeRunners, type RunnerName, shareSuite, statusesOf } from './run-suite.js'

/** What makes a spy, in the words of each runner, and the workers that tests need: in its own process Jest itself would use the spies. */
const spying: Record<RunnerName, { head: string; spyOn: string; args: string[] }> = {
  vitest: { head: `import { vi } from 'vitest'`, spyOn: 'vi.spyOn', args: [] },
  jest: { head: '', spyOn: 'jest.spyOn', args: ['-w', '2'] },
}

/** A file that spies on the file system and restores nothing, as `restoreMocks` is off by default. */
const spyingFile = (runner: RunnerName, instead: string) => `
  ${spying[runner].head}
  test('spies, and restores nothing', () => {
    const names = ['appendFileSync', 'existsSync', 'mkdirSync', 'openSync', 'readFileSync', 'readdirSync', 'realpathSync', 'rmSync', 'statSync', 'writeFileSync']
    for (const name of names) ${spying[runner].spyOn}(fs, name).mockImplementation(() => { ${instead} })
    for (const name of ['readFile', 'rm']) ${spying[runner].spyOn}(fs.promises, name).mockImplementation(async () => { ${instead} })
  })
  test('runs a command', async () => expect((await custody.exec('node', ['-p', '1'])).stdout).toBe('1\\n'))
  test('starts a runtime', async () => {
    await custody.start({ name: 'api', command: ['sh', '-c', 'echo ready; exec sleep 300'], ready: { log: 'ready' } })
  })
  test('leaks', () => { spawn('sleep', ['301'], { stdio: 'ignore' }) })
  test('starts one that ends', () => { execSync('true') })`

describeRunners('a file system that a test spies on,', (runner) => {
  describe.each([
    ['and that fails', `throw new Error('a spy')`],
    ['and that does nothing', ''],
  ])('%s,', (_, instead) => {
    const suite = shareSuite(runner, () => ({
      args: spying[runner].args,
      files: { spying: spyingFile(runner, instead), other: `test('is green', () => {})` },
    }))

    test('is not that of Custody', () => {
      expect(statusesOf(suite()), suite().output).toEqual({
        'spies, and restores nothing': 'passed',
        'runs a command': 'passed',
        'starts a runtime': 'passed',
        leaks: 'failed',
        'starts one that ends': 'passed',
        'is green': 'passed',
      })
      expect(suite().test('leaks').messages).toContain('still alive')
      expect(suite().output).not.toMatch(/Could not (look|settle)/)
      expect(suite().receiptsOf('api'), suite().output).toMatchObject([{ forced: false, left: [] }])
    })
  })
})

const netOf: Record<RunnerName, string> = {
  vitest: `import net from 'node:net'`,
  jest: `const net = require('node:net')`,
}

describeRunners('a network that a test takes away and gives back', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      network: `
        ${netOf[runner]}
        ${spying[runner].head}
        const start = () => custody.start({ name: 'api', command: ['sleep', '300'] })
        test('finds none', async () => {
          const spy = ${spying[runner].spyOn}(net.Socket.prototype, 'connect').mockImplementation(() => { throw new Error('no network') })
          await expect(start()).rejects.toThrow('no network')
          spy.mockRestore()
        })
        test('starts one when it is there again', async () => { await start() })`,
    },
  }))

  test('does not spoil the tests that follow', () => {
    expect(statusesOf(suite()), suite().output).toEqual({ 'finds none': 'passed', 'starts one when it is there again': 'passed' })
  })
})
