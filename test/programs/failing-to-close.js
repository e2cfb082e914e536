// A host whose product cannot shut down: it hears of that where it has closed its runtime, and goes on.
import { serveRuntime } from '@custody/runtime'

const runtime = await serveRuntime({
  name: 'failing-to-close',
  locator: process.argv[2],
  exit: false,
  signals: false,
  async onShutdown() {
    throw new Error('the disk is full')
  },
})
try {
  await runtime.close()
} catch (error) {
  console.log(`heard that ${error.message}`)
}
process.exit(7)
