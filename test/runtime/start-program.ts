import { onTestFinished } from 'vitest'
import { type Program, type StartOptions, spawnProgram } from './spawn-program.js'

export type { Program }

/** Starts a program of test/programs. Whatever happens, it has exited when the test has finished. */
export function startProgram(name: string, options: StartOptions = {}): Program {
  return spawnProgram(name, options, onTestFinished)
}
