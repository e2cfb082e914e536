import { execFileSync, execSync, spawnSync } from 'node:child_process'
import { cli } from '../taskd.js'

/** @param {import('../suite.js').Bench} bench */
export function describeBlockingCommands({ custody, describe, test, expect, serverPid, openTask }) {
  describe('a command that blocks the test', () => {
    const argv = [cli, 'add', 'Block', '--json']
    const options = () => ({ env: { ...process.env, ...custody.namespace.env }, encoding: 'utf8' })

    const ways = {
      execFileSync: () => execFileSync(process.execPath, argv, options()),
      spawnSync: () => spawnSync(process.execPath, argv, options()).stdout,
      execSync: () => execSync([process.execPath, ...argv].map((part) => JSON.stringify(part)).join(' '), options()),
    }
    for (const [way, run] of Object.entries(ways)) {
      test(`starts a server through ${way}`, async () => {
        expect(JSON.parse(run())).toEqual(openTask('t1', 'Block'))
        expect((await custody.runtimes()).map((runtime) => runtime.pid)).toEqual([await serverPid()])
      })
    }
  })
}
