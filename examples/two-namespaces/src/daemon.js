// Greets over HTTP, and says who it is.
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { drainHttpServer, serveRuntime } from '@custody/runtime'

const home = join(homedir(), '.greeter')
mkdirSync(home, { recursive: true, mode: 0o700 })

const server = createServer((_request, response) => response.end(JSON.stringify({ hello: 'world', pid: process.pid })))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
await serveRuntime({
  name: 'greeter',
  locator: join(home, 'daemon.json'),
  details: { url: `http://127.0.0.1:${server.address().port}` },
  onShutdown: ({ graceMs, signal }) => drainHttpServer(server, { graceMs, signal }),
})
process.send('ready')
process.disconnect()
