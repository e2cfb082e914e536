import { execa } from 'execa'
import { untilSaid } from '../measure/until-said.mjs'

export async function start({ command: [file, ...args], readyText }) {
  const subprocess = execa(file, args, { reject: false, stdin: 'ignore', stderr: 'inherit' })
  await untilSaid(subprocess, subprocess.stdout, readyText)
  return {
    async stop() {
      subprocess.kill('SIGTERM')
      await subprocess
    },
  }
}
