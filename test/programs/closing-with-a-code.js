// Has something to complain about, says so by its exit code, and still leaves in order.
import { serveRuntime } from '@custody/runtime'

const runtime = await serveRuntime({ name: 'closing-with-a-code', locator: process.argv[2], onShutdown() {} })
process.exitCode = 4
await runtime.close()
