// Writes 5 MB to each of its streams before it listens, and 1 MB with each request.
import { createServer } from 'node:http'

const line = `${'x'.repeat(1023)}\n`
const write = (bytes) => {
  for (const stream of [process.stdout, process.stderr]) stream.write(line.repeat(bytes / line.length))
}
write(5 * 2 ** 20)
createServer((_request, response) => {
  write(2 ** 20)
  response.end(String(process.pid))
}).listen(Number(process.env.PORT), '127.0.0.1')
