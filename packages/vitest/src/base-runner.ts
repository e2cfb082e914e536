import type { RunnerTestCase, RunnerTestFile, RunnerTestSuite } from 'vitest'
import * as vitest from 'vitest'

/** The hooks of Vitest's runner that ours stands on; the types of Vitest name only a part of them. docs/upstream.md says when each runs. */
export interface RunnerHooks {
  onCollectStart?(file: RunnerTestFile): unknown
  onBeforeRunSuite?(suite: RunnerTestSuite): unknown
  onBeforeRunTask?(test: RunnerTestCase): unknown
  onBeforeTryTask?(test: RunnerTestCase, options: { retry: number; repeats: number }): unknown
  onTaskFinished?(test: RunnerTestCase): unknown
  onAfterRunTask?(test: RunnerTestCase): unknown
  onAfterRunSuite?(suite: RunnerTestSuite): unknown
  onAfterRunFiles?(files: RunnerTestFile[]): unknown
  cancel?(reason: unknown): unknown
  /** Vitest puts these two on the instance. */
  onTestAnnotate?(test: RunnerTestCase, annotation: { type: string; message: string }): unknown
  onTaskUpdate?(packs: unknown[], events: unknown[]): unknown
}

export type RunnerClass = new (config: unknown) => RunnerHooks

/** The class that ours extends: the user's own runner, or Vitest's. */
export async function loadBaseRunner(userRunner: string | null): Promise<RunnerClass> {
  if (userRunner !== null) return ((await import(/* @vite-ignore */ userRunner)) as { default: RunnerClass }).default
  if ('TestRunner' in vitest) return vitest.TestRunner as unknown as RunnerClass
  // Vitest 3 has it in an entry that 5 has not: a literal specifier would fail to resolve there.
  const entry = ['vitest', 'runners'].join('/')
  return ((await import(/* @vite-ignore */ entry)) as { VitestTestRunner: RunnerClass }).VitestTestRunner
}
