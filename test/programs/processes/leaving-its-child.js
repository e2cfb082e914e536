// Has a child in a group of its own, and leaves at once when it is asked to. The child says when it is asked itself, and leaves too.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

if (process.send) {
  process.once('SIGTERM', () => {
    console.log('the child was asked')
    process.exit(0)
  })
  process.on('disconnect', () => setInterval(() => {}, 60_000))
  process.send('there')
} else {
  const child = fork(fileURLToPath(import.meta.url), { detached: true })
  child.once('message', () => console.log('ready'))
}
