// wait-on with its defaults, and the rest by hand.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import waitOn from 'wait-on'

export async function start({ command: [file, ...args], port }) {
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  await waitOn({ resources: [`tcp:127.0.0.1:${port}`] })
  return {
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}
