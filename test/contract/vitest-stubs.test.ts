import { describe, expect, test } from 'vitest'
import { gone } from './alive.js'
import { noteProcess, readNoted } from './noted.js'
import { runners, shareSuite, statusesOf } from './run-suite.js'

// Jest has a realm for tests: there the globals of Custody are others.
describe.runIf(runners.includes('vitest'))('a global that a test stubs and gives back after it', () => {
  const suite = shareSuite('vitest', () => ({
    files: {
      idle: `
        import { vi } from 'vitest'
        afterEach(() => vi.unstubAllGlobals())
        const isBrowser = () => typeof process === 'undefined' || !process.versions?.node
        test('is in a browser without a version', () => { vi.stubGlobal('process', { env: {} }); expect(isBrowser()).toBe(true) })
        test('is in a browser without a process', () => { vi.stubGlobal('process', undefined); expect(isBrowser()).toBe(true) })
        describe('for all of a suite', () => {
          beforeAll(() => { vi.stubGlobal('process', { env: {} }) })
          test('is in a browser still', () => expect(isBrowser()).toBe(true))
        })`,
      starting: `
        import { vi } from 'vitest'
        ${noteProcess}
        const env = { PATH: process.env.PATH }
        const [real, captureStackTrace] = [process, Error.captureStackTrace]
        afterEach(() => {
          vi.unstubAllGlobals()
          Error.captureStackTrace = captureStackTrace
        })
        test('leaks under another process', () => {
          vi.stubGlobal('process', { env, versions: { node: '20.0.0' }, cwd: () => '/' })
          noteProcess(spawn('sleep', ['300'], { stdio: 'ignore', env }).pid)
        })
        test('gives a child the true environment', () => {
          vi.stubGlobal('process', { ...real, env: { ...env, FOO: '1' } })
          expect(execFileSync('/bin/sh', ['-c', 'echo [$FOO] [\${HOME:+home}]'], { encoding: 'utf8' })).toBe('[] [home]\\n')
        })
        test('starts one without a Buffer', async () => {
          const child = spawn('true')
          await new Promise((resolve) => child.once('exit', resolve))
          vi.stubGlobal('Buffer', undefined)
        })
        test('starts some without stacks', async () => {
          Error.captureStackTrace = undefined
          execFileSync('true')
          const child = spawn('true')
          await new Promise((resolve) => child.once('exit', resolve))
        })`,
    },
  }))

  test('is not that of Custody', () => {
    expect(statusesOf(suite()), suite().output).toEqual({
      'is in a browser without a version': 'passed',
      'is in a browser without a process': 'passed',
      'is in a browser still': 'passed',
      'leaks under another process': 'failed',
      'gives a child the true environment': 'passed',
      'starts one without a Buffer': 'passed',
      'starts some without stacks': 'passed',
    })
    expect(suite().test('leaks under another process').messages).toContain('still alive')
    expect(suite().output).not.toMatch(/Unhandled|Could not/)
  })

  test('does not let a process outlive the run', async () => {
    for (const each of readNoted(suite().directory)) await gone(each)
    expect(readNoted(suite().directory)).toHaveLength(1)
  })
})
