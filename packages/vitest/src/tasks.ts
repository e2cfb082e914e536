import type { CustodyError } from '@custody/core'
import type { RunnerTask, RunnerTestCase, RunnerTestFile, RunnerTestSuite } from 'vitest'

export function isFile(suite: RunnerTestSuite): suite is RunnerTestFile {
  return 'filepath' in suite
}

export function isConcurrent(task: RunnerTestCase | RunnerTestSuite): boolean {
  return (task as { concurrent?: boolean }).concurrent === true
}

/** The names of a test and of the suites around it, as Vitest prints them. */
export function titleOf(test: RunnerTestCase): string {
  const names = [test.name]
  for (let suite = test.suite; suite !== undefined && !isFile(suite); suite = suite.suite) names.unshift(suite.name)
  return names.join(' > ')
}

/** Whether each test of a file has run and passed. */
export function isWhole(file: RunnerTestFile): boolean {
  const hasPassed = (task: RunnerTask): boolean =>
    'tasks' in task
      ? task.result?.state !== 'fail' && task.tasks.every(hasPassed)
      : task.mode === 'run' && task.result?.state === 'pass'
  return hasPassed(file)
}

export function hasFailed(task: RunnerTask): boolean {
  return task.result?.state === 'fail' || ('tasks' in task && task.tasks.some(hasFailed))
}

/** Whether a file has errors of its own, as of a hook or of its collection. Those of its tests do not count. */
export function isBroken(suite: RunnerTestSuite): boolean {
  const { result, tasks } = suite
  return (result?.errors?.length ?? 0) > 0 || tasks.some((task) => 'tasks' in task && isBroken(task))
}

/** The messages of a task's own errors. */
export function messagesOf(task: RunnerTask): string[] {
  return task.result?.errors?.map(({ message }) => String(message)) ?? []
}

/** Whether a limit of time has cut a test short, so that its body may go on. */
export function wasCutShort(test: RunnerTestCase): boolean {
  return test.result?.errors?.some(({ message }) => /timed out in/.test(message)) === true
}

/** Has what stands around a red test be red too. */
export function markFailed(task: RunnerTask): void {
  task.result ??= { state: 'fail' }
  task.result.state = 'fail'
}

/** Makes a task red. Its own errors stay, and ours follow. */
export function fail(task: RunnerTask, failures: readonly CustodyError[]): void {
  if (failures.length === 0) return
  const errors = failures.map(asTestError)
  task.result ??= { state: 'fail' }
  const { result } = task
  result.state = 'fail'
  result.errors = [...(result.errors ?? []), ...errors]
  // Vitest 5 prints what stands in the attempts.
  const last = (result as { attempts?: { state: string; errors?: object[] }[] }).attempts?.at(-1)
  if (last === undefined) return
  last.state = 'fail'
  last.errors = [...(last.errors ?? []), ...errors]
}

/** Vitest maps the stack to the source itself, unless the error brings its own list of frames. */
function asTestError({ message, name, stack = '' }: CustodyError): { name: string; message: string; stack: string } {
  return { name, message, stack }
}
