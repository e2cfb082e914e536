import { fileURLToPath } from 'node:url'
import type { Reporter, TestModule, TestProject } from 'vitest/node'
import { type ManagedRun, settleRun } from './managed-run.js'

const runner = fileURLToPath(new URL('./runner.js', import.meta.url))

/** Ends the run, and each re-run in watch mode, as soon as its last test has ended. */
export default class CustodyReporter implements Reporter {
  readonly managed: ManagedRun

  constructor(managed: ManagedRun) {
    this.managed = managed
  }

  onTestRunStart(): void {
    this.managed.isSettled = false
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    await settleRun(this.managed, { isLast: false, unmanaged: unmanagedIn(modules) })
  }
}

/** The names of the projects whose tests have run without our runner. */
function unmanagedIn(modules: readonly TestModule[]): string[] {
  const projects = new Set(modules.map(({ project }) => project))
  // Benchmarks are no tests.
  const isManaged = ({ config }: TestProject) => config.runner === runner || config.mode === 'benchmark'
  return [...projects].filter((project) => !isManaged(project)).map(({ name }) => name)
}
