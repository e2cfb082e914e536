import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../runtime/temporary-directory.js'
import { buildMutant, type Mutation } from './mutant.js'

// A judge that trusts the token, as so many clean-ups do: whoever knows the secret of the file is taken for the owner.
const trustToken: readonly Mutation[] = [
  { file: 'core/dist/provenance/judge.js', remove: 'if (!evidence.isInScope)', insert: 'if (false)' },
  { file: 'core/dist/provenance/judge.js', remove: 'if (!evidence.isPathEqual)', insert: 'if (false)' },
]
// And a runtime that does not compare either, as all were before.
const trustCaller: readonly Mutation[] = [
  { file: 'runtime/dist/serve/serve-runtime.js', remove: 'if (mismatch !== null)', insert: 'if (false)' },
]

const runners = {
  vitest: { file: 'vitest.mjs', args: ['run'], nodeOptions: '' },
  jest: { file: 'bin/jest.js', args: ['--ci'], nodeOptions: '--experimental-vm-modules' },
} as const

describe.each(['vitest', 'jest'] as const)('%s', (runner) => {
  test('the case of the two namespaces passes on an unchanged copy', async () => {
    const { exitCode, output } = await runTwoNamespaces(runner, [])
    expect(exitCode, output).toBe(0)
  })

  test('it fails when judge trusts the token: only the runtime itself still refuses', async () => {
    const { exitCode, output } = await runTwoNamespaces(runner, trustToken)
    expect(exitCode).toBe(1)
    expect(output).toMatch(/5 failed/)
    expect(output).toContain('owned')
  })

  test('it fails when nobody compares: the other’s daemon is stopped', async () => {
    const { exitCode, output } = await runTwoNamespaces(runner, [...trustToken, ...trustCaller])
    expect(exitCode).toBe(1)
    // The symbolic link is now no help either: a caller that read through it is believed.
    expect(output).toMatch(/6 failed/)
  })
})

async function runTwoNamespaces(runner: keyof typeof runners, mutations: readonly Mutation[]) {
  const directory = buildMutant('two-namespaces', mutations)
  const { args, file, nodeOptions } = runners[runner]
  const binary = join(dirname(createRequire(join(directory, 'package.json')).resolve(`${runner}/package.json`)), file)
  const { exitCode, all } = await execa(process.execPath, [binary, ...args], {
    cwd: directory,
    env: { NODE_OPTIONS: nodeOptions, TMPDIR: temporaryDirectory(), NO_COLOR: '1', VITEST: undefined, NODE_ENV: undefined },
    reject: false,
    all: true,
    stdin: 'ignore',
  })
  return { exitCode, output: all }
}
