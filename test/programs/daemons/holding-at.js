// Holds at one step of its end, says so by a file, and goes on when another appears. HELD is their directory; the step is an argument.
import { existsSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ready, serve } from './daemon.js'

const [, , step] = process.argv
const directory = process.env.HELD
const until = Date.now() + 120_000
const mayGoOn = () => Date.now() > until || existsSync(join(directory, 'go'))
const say = () => writeFileSync(join(directory, `at-${step}`), '')

async function hold() {
  say()
  while (!mayGoOn()) await setTimeout(20)
}

// Of what a connection is told the answers to these are the first, the second and the third.
const held = { verifying: 1, identifying: 2, requested: 3 }[step]
const told = new WeakMap()
const written = new WeakMap()
const { write } = Socket.prototype
Socket.prototype.write = function (...args) {
  if (this.server === undefined || held === undefined) return write.apply(this, args)
  const count = (told.get(this) ?? 0) + 1
  told.set(this, count)
  const before = written.get(this) ?? Promise.resolve()
  const turn = count === held ? before.then(hold) : before
  written.set(
    this,
    turn.then(() => write.apply(this, args)),
  )
  return true
}

if (step === 'exiting') {
  // Nothing of Node's own runs any more: what is there is the process.
  const asleep = new Int32Array(new SharedArrayBuffer(4))
  process.on('exit', () => {
    say()
    while (!mayGoOn()) Atomics.wait(asleep, 0, 0, 20)
  })
}
// When it has drained and taken its locator away, nothing holds it.
if (step === 'drained') process.on('beforeExit', hold)

await serve(() => (step === 'requested' || step === 'draining' ? hold() : null), {
  name: step,
  locator: join(process.env.HOME, `${step}.json`),
  drainMs: 120_000,
  exit: step !== 'drained',
})
ready()
