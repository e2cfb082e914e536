import type { CustodyError } from '@custody/core'
import type { AssertionResult, TestResult } from '@jest/test-result'
import type { Configs } from './file-outcome.js'
import { messageUtil } from './message-util.js'

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
  const text = asJestPrints([red], { config, globalConfig }, result.testFilePath) ?? messages.join('\n')
  result.testResults.push(red)
  result.numFailingTests++
  result.skipped = false
  result.failureMessage = result.failureMessage ? `${result.failureMessage}\n${text}` : text
}

/** Null where nothing can be loaded any more, as with no descriptor left: what was found is told all the same. */
function asJestPrints(results: AssertionResult[], { config, globalConfig }: Configs, path: string): string | null {
  try {
    return messageUtil(config.rootDir).formatResultsErrors(results, config, globalConfig, path)
  } catch {
    return null
  }
}

/** An error that Jest is going to print instead of any result, with what we found. */
export function withFailures(error: unknown, failures: readonly CustodyError[]): unknown {
  if (failures.length === 0) return error
  if (typeof error !== 'object' || error === null)
    return new AggregateError([error, ...failures], `${error}\n\n${textOf(failures)}`)
  const target = error as { message?: unknown; stack?: unknown }
  const text = textOf(failures)
  for (const key of ['message', 'stack'] as const) {
    const said = target[key]
    // It may be frozen. It makes the file red in any case.
    if (typeof said === 'string' && !said.includes(text)) Reflect.set(target, key, `${said}\n\n${text}`)
  }
  return error
}

function textOf(failures: readonly CustodyError[]): string {
  return failures.map(({ message, name }) => `${name}: ${message}`).join('\n\n')
}
