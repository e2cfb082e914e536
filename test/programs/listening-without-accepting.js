// Listens on a port for which it has no time: who connects is queued, and from the third on left waiting. One line on stdin frees it.
import { readSync } from 'node:fs'
import { createServer } from 'node:net'

const server = createServer((socket) => socket.destroy())
server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  console.log(`listens on ${server.address().port}`)
  readSync(0, Buffer.alloc(16))
})
