// Has no patience at all, and says when its idle time has passed; it may still not know then whether it may publish.
import { serveRuntime } from '@custody/runtime'

const serving = serveRuntime({ name: 'idle-before-it-is-refused', locator: process.argv[2], idleMs: 1, onShutdown() {} })
// As long as the runtime's own, and set after it: it comes later.
setTimeout(() => console.log('was idle'), 1)
try {
  await serving
} catch ({ code, message }) {
  console.log(`refused ${JSON.stringify({ code, message })}`)
  process.exitCode = 3
}
