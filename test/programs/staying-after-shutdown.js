// A host with other things to do: closes its runtime when told so, and ends when it has nothing left to do.
import { once } from 'node:events'
import { serveRuntime } from '@custody/runtime'

const runtime = await serveRuntime({
  name: 'staying-after-shutdown',
  locator: process.argv[2],
  exit: false,
  idleMs: 60_000,
  onShutdown: ({ reason }) => console.log(`draining because of ${reason}`),
})
const work = runtime.track()
console.log('ready')
await once(process.stdin, 'data')
const closed = runtime.close()
work[Symbol.dispose]()
await closed
console.log(`closed; listens to SIGTERM ${process.listenerCount('SIGTERM')} times`)
process.stdin.destroy()
