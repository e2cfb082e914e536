// Says what reaches it, signals and the bytes of its clients, and whenever it is asked that this was all so far. Leaves when as many
// shutdowns have come as it is to wait for.
import { Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { serve } from './daemon.js'

let shutdowns = 0
function tell(what) {
  console.log(`got ${what}`)
  if (what.includes('shutdown')) shutdowns++
}
const signals = ['HUP', 'INT', 'QUIT', 'USR1', 'USR2', 'ALRM', 'TERM', 'CONT', 'TSTP', 'TTIN', 'WINCH', 'IO', 'PWR']
for (const name of signals) process.on(`SIG${name}`, tell)
process.stdin.on('data', () => console.log('that is all'))
const { emit } = Server.prototype
Server.prototype.emit = function (event, ...args) {
  if (event === 'connection') args[0].on('data', (chunk) => tell(chunk.toString('latin1')))
  return emit.call(this, event, ...args)
}
const { AWAITED = 0, CLAIMED, NAME: name } = process.env
// Whatever it says of its birth, the kernel shows no such thing.
if (CLAIMED) process.env.CUSTODY_NAMESPACE = CLAIMED
async function awaitShutdowns() {
  while (shutdowns < AWAITED) await setTimeout(5)
}
await serve(awaitShutdowns, { name, signals: false })
console.log('serves')
