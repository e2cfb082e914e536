// Cannot flush.
import { serveRuntime } from '@custody/runtime'

await serveRuntime({
  name: 'throwing-in-shutdown',
  locator: process.argv[2],
  onShutdown() {
    throw new Error('the disk is full')
  },
})
console.log('ready')
