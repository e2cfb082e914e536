import { join } from 'node:path'
import { describeBlockingCommands } from './behaviours/blocking-commands.js'
import { describeCommandLine } from './behaviours/command-line.js'
import { describeCopiedHome } from './behaviours/copied-home.js'
import { describeLease } from './behaviours/lease.js'
import { describeServer } from './behaviours/server.js'
import { describeStop } from './behaviours/stop.js'
import { describeStore } from './behaviours/store.js'
import { describeWatch } from './behaviours/watch.js'
import { openTaskd } from './taskd.js'

/**
 * What the runner gives, and what every behaviour needs besides.
 * @typedef {{ custody: any, describe: any, test: any, expect: any }} Runner
 * @typedef {Runner & ReturnType<typeof openBench>} Bench
 */

/**
 * What users of taskd see. Each command may leave a server behind, and no line here ends one.
 * @param {Runner} runner
 */
export function describeTaskd(runner) {
  const bench = { ...runner, ...openBench(runner.custody) }
  describeServer(bench)
  describeStop(bench)
  describeBlockingCommands(bench)
  describeLease(bench)
  describeStore(bench)
  describeWatch(bench)
  describeCopiedHome(bench)
  describeCommandLine(bench)
}

function openBench(custody) {
  const taskd = openTaskd(custody)
  return {
    taskd,
    locatorPath: () => join(custody.namespace.home, '.taskd', 'taskd.json'),
    serverPid: async (...args) => (await taskd('status', ...args)).server.pid,
    take: async (id, holder, ...args) => (await taskd('lease', '--task', id, '--holder', holder, ...args)).lease,
    openTask: (id, title, rest) => ({ id, title, state: 'open', lease: null, leaseHistory: [], copyOf: null, ...rest }),
  }
}
