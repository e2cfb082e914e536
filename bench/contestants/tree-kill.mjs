// A shell, as with npm scripts, and tree-kill: its callback is all that its users wait for.
import { spawn } from 'node:child_process'
import { promisify } from 'node:util'
import treeKill from 'tree-kill'
import { untilSaid } from '../measure/until-said.mjs'

export async function start({ command, readyText }) {
  const child = spawn(command.join(' '), { shell: true, stdio: ['ignore', 'pipe', 'inherit'] })
  await untilSaid(child, child.stdout, readyText)
  return { stop: () => promisify(treeKill)(child.pid, 'SIGTERM') }
}
