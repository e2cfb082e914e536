// An HTTP server that says when it is ready, and writes down who it is and when it said so: `serving.cjs <port> <stamp file>`.
const { renameSync, writeFileSync, writeSync } = require('node:fs')
const { createServer } = require('node:http')

const [port, stampPath] = process.argv.slice(2)

createServer((_request, response) => response.end('hello')).listen(Number(port), '127.0.0.1', () => {
  const saidAt = String(process.hrtime.bigint())
  writeSync(1, 'ready\n')
  writeFileSync(`${stampPath}.new`, JSON.stringify({ pid: process.pid, saidAt }))
  renameSync(`${stampPath}.new`, stampPath)
})
