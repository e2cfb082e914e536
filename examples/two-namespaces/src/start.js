// The command: leaves a greeter behind.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const daemon = fork(fileURLToPath(new URL('./daemon.js', import.meta.url)), [], { detached: true, stdio: 'ignore' })
await Promise.race([
  once(daemon, 'message'),
  once(daemon, 'exit').then(([code]) => {
    throw new Error(`The greeter did not start: it exited with code ${code}.`)
  }),
])
daemon.unref()
