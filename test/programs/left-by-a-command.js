// A command-line tool that leaves a daemon behind: starts the program that it is given and returns when that is ready.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [program, ...args] = process.argv.slice(2)
const child = fork(fileURLToPath(new URL(`./daemons/${program}.js`, import.meta.url)), args, { detached: true, stdio: 'ignore' })
child.once('message', () => {
  console.log(child.pid)
  child.unref()
})
child.once('exit', (code) => {
  console.error(`${program} exited with code ${code}`)
  process.exitCode = 1
})
