// Node alone, and all by hand: nothing that is written for Node can know earlier.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { untilSaid } from '../measure/until-said.mjs'

export async function start({ command: [file, ...args], readyText }) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await untilSaid(child, child.stdout, readyText)
  return {
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}
