// A host whose product cannot shut down, and which nobody tells but by what it prints: it ends when it is told to.
import { once } from 'node:events'
import { serveRuntime } from '@custody/runtime'

await serveRuntime({
  name: 'outliving-its-shutdown',
  locator: process.argv[2],
  exit: false,
  async onShutdown() {
    throw new Error('the disk is full')
  },
})
console.log('ready')
await once(process.stdin, 'data')
console.log('still here')
process.exit(7)
