// Has a child in a group of its own, which it ends by a word when it is asked to leave, and leaves after it. Says so when somebody else
// asks the child.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

if (process.send) {
  process.on('SIGTERM', () => console.log('the child was asked'))
  // Takes a moment, in which it would see a signal.
  process.once('message', () => setTimeout(() => process.disconnect(), 50))
  process.send('there')
} else {
  const child = fork(fileURLToPath(import.meta.url), { detached: true })
  child.once('message', () => console.log('ready'))
  child.once('exit', () => process.exit(0))
  process.once('SIGTERM', () => child.send('leave'))
}
