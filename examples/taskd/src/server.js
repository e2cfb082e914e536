import { once } from 'node:events'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { drainHttpServer, readLocator, serveRuntime } from '@custody/runtime'
import { apiSecret } from './api-secret.js'
import { hasCode, TaskdError } from './errors.js'
import { locatorPath, logPath, openHome } from './home.js'
import { Api } from './server/api.js'
import { OCCUPIED } from './server/exit-codes.js'
import { loadStore } from './stores/open-store.js'
import { Tasks } from './tasks/tasks.js'

const { values } = parseArgs({ options: { home: { type: 'string' }, store: { type: 'string' }, 'idle-ms': { type: 'string' } } })
const home = openHome(values.home)
const kind = /** @type {import('./stores/open-store.js').StoreKind} */ (values.store)
const openStore = await loadStore(home, kind)

let settle
const api = new Api(
  new Promise((resolve, reject) => {
    settle = { resolve, reject }
  }),
)
const server = createServer((request, response) => api.handle(request, response))
await once(server.listen(0, '127.0.0.1'), 'listening')

/** @type {import('./stores/open-store.js').Store | undefined} */
let store
const runtime = await publish()
try {
  // Not before: whoever has published is alone here.
  store = openStore()
  const tasks = new Tasks(store, { announce: (event, task) => api.watchers.announce(event, task) })
  settle.resolve({ tasks, secret: apiSecret(readLocator(runtime.locator)), store: kind, track: () => runtime.track() })
  console.log(`${new Date().toISOString()} pid ${process.pid} serves ${home}`)
} catch (error) {
  console.error(error)
  settle.reject(notStarted('it could not open its tasks'))
  // The runtime exits with 0 after a drain; whoever started this process should see a failure.
  process.once('exit', () => {
    process.exitCode = 1
  })
  await runtime.close()
}

async function publish() {
  try {
    return await serveRuntime({
      name: 'taskd',
      locator: locatorPath(home),
      idleMs: Number(values['idle-ms']),
      details: { url: `http://127.0.0.1:${server.address().port}`, store: kind },
      async onShutdown({ graceMs, signal }) {
        api.startDrain()
        await drainHttpServer(server, { graceMs, signal })
        await api.finished()
        store?.close()
      },
    })
  } catch (error) {
    settle.reject(notStarted('it could not publish its locator'))
    console.error(`${new Date().toISOString()} pid ${process.pid} leaves: ${error.message}`)
    process.exit(hasCode(error, 'CUSTODY_PUBLICATION_FAILED') ? OCCUPIED : 1)
  }
}

function notStarted(reason) {
  return new TaskdError({
    code: 'not_started',
    message: `The server could not start: ${reason}.`,
    hint: `look into ${logPath(home)}`,
  })
}
