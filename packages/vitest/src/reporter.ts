import type { Reporter } from 'vitest/node'
import { type ManagedRun, settleRun } from './managed-run.js'

/** Ends the run, and each re-run in watch mode, as soon as its last test has ended. */
export default class CustodyReporter implements Reporter {
  readonly managed: ManagedRun

  constructor(managed: ManagedRun) {
    this.managed = managed
  }

  onTestRunStart(): void {
    this.managed.isSettled = false
  }

  async onTestRunEnd(): Promise<void> {
    await settleRun(this.managed, { isLast: false })
  }
}
