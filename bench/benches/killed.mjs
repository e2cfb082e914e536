import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { askers, listeners } from '../contestants/index.mjs'
import { endAll, isAlive } from '../measure/process-table.mjs'
import { scratch } from '../measure/scratch.mjs'

const program = fileURLToPath(new URL('../programs/running.mjs', import.meta.url))
const COUNT = 10
const LATER_MS = 500

/** What outlives a runner that is killed. */
export const bench = {
  about: `Starts ${COUNT} servers that obey SIGTERM, and kills the process that did so with SIGKILL.`,
  contestants: [...listeners, ...askers],
  rounds: 3,
  metrics: [
    {
      key: 'survivors',
      title: `Servers alive ${LATER_MS / 1_000} s later`,
      isCount: true,
      goal: { of: 'most', atMost: 0, text: 'none' },
    },
    { key: 'others', title: `Other processes alive ${LATER_MS / 1_000} s later`, isCount: true },
  ],

  async open(name) {
    const directory = scratch()
    return {
      async measure() {
        const runner = fork(program, [name, String(COUNT), mkdtempSync(join(directory, 'runner-'))], {
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        })
        const exited = once(runner, 'exit')
        const [told] = await Promise.race([once(runner, 'message'), exited])
        if (told?.servers === undefined) throw new Error(`its runner exited with ${told}`)
        const { others, servers } = told
        runner.kill('SIGKILL')
        await exited
        await pause(LATER_MS)
        const alive = { survivors: servers.filter(isAlive).length, others: others.filter(isAlive).length }
        endAll([...servers, ...others])
        return alive
      },
    }
  },
}
