import { createRequire } from 'node:module'
import type { CustodyError } from '@custody/core'
import type { AssertionResult, TestResult } from '@jest/test-result'
import type * as MessageUtil from 'jest-message-util'
import { requireFromJest } from './base-runner.cjs'
import type { Configs } from './file-outcome.js'

const TITLE = 'leaves no process behind'

/**
 * Makes a file red whose tests have ended: by a test result of its own, which `--bail`, JSON and JUnit count. An error of the file as a
 * whole is invisible to them, and costs the results of its tests.
 */
export function failFile(result: TestResult, { config, globalConfig }: Configs, failures: readonly CustodyError[]): void {
  const messages = failures.map(({ message, name, stack }) => stack ?? `${name}: ${message}`)
  const red: AssertionResult = {
    ancestorTitles: ['Custody'],
    title: TITLE,
    fullName: `Custody ${TITLE}`,
    status: 'failed',
    failureMessages: messages,
    failureDetails: failures.map(() => ({})),
    duration: null,
    location: null,
    numPassingAsserts: 0,
    invocations: 1,
    retryReasons: [],
  }
  const { formatResultsErrors } = messageUtil(config.rootDir)
  const text = formatResultsErrors([red], config, globalConfig, result.testFilePath) ?? messages.join('\n')
  result.testResults.push(red)
  result.numFailingTests++
  result.skipped = false
  result.failureMessage = result.failureMessage ? `${result.failureMessage}\n${text}` : text
}

/** Adds what we found to an error that Jest is going to print instead of any result. */
export function appendFailures(error: unknown, failures: readonly CustodyError[]): void {
  if (failures.length === 0 || typeof error !== 'object' || error === null) return
  const target = error as { message?: unknown; stack?: unknown }
  const text = failures.map(({ message, name }) => `${name}: ${message}`).join('\n\n')
  for (const key of ['message', 'stack'] as const) {
    const said = target[key]
    // It may be frozen. It makes the file red in any case.
    if (typeof said === 'string' && !said.includes(text)) Reflect.set(target, key, `${said}\n\n${text}`)
  }
}

/** The project's own, which prints as its Jest does. */
export function messageUtil(rootDir: string): typeof MessageUtil {
  const circus = requireFromJest(rootDir).resolve('jest-circus/package.json')
  return createRequire(circus)('jest-message-util') as typeof MessageUtil
}
