// Drains for as long as nobody tells it, by a line on stdin, that its work is done.
import { once } from 'node:events'
import { serveRuntime } from '@custody/runtime'

const told = once(process.stdin, 'data')
await serveRuntime({
  name: 'draining-until-told',
  locator: process.argv[2],
  async onShutdown({ reason, graceMs }) {
    console.log(`draining because of ${reason} for ${graceMs > 0 ? 'some' : 'no'} time`)
    await told
  },
})
process.on('SIGTERM', () => console.log('got SIGTERM'))
console.log('ready')
