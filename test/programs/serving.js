// Publishes itself and serves until it is asked to leave. Says why it could not.
import { serveRuntime } from '@custody/runtime'

const [locator, name = 'serving'] = process.argv.slice(2)
try {
  await serveRuntime({ name, locator, onShutdown: ({ reason }) => console.log(`draining because of ${reason}`) })
  console.log('ready')
} catch (error) {
  const { code, message, facts, cause } = error
  console.log(`refused ${JSON.stringify({ code, message, facts, cause: cause && `${cause.stack} ${JSON.stringify(cause)}` })}`)
  // Not process.exit: what a refused start leaves open would keep it alive.
  process.exitCode = 3
}
