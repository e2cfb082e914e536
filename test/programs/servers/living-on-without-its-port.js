// A server that does not notice that somebody else has its port.
import { createServer } from 'node:http'

createServer((_request, response) => response.end(String(process.pid)))
  .on('error', () => {})
  .listen(Number(process.env.PORT), '127.0.0.1')
setInterval(() => {}, 1_000)
