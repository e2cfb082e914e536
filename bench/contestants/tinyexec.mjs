import { x } from 'tinyexec'
import { untilSaid } from '../measure/until-said.mjs'

export async function start({ command: [file, ...args], readyText }) {
  const subprocess = x(file, args, { nodeOptions: { stdio: ['ignore', 'pipe', 'inherit'] } })
  await untilSaid(subprocess.process, subprocess.process.stdout, readyText)
  return {
    async stop() {
      const ended = subprocess.then(
        () => {},
        () => {},
      )
      subprocess.kill('SIGTERM')
      await ended
    },
  }
}
