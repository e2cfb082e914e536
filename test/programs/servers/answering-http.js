// A plain server: listens on PORT and answers with its pid. Says so on its output.
import { createServer } from 'node:http'

const server = createServer((_request, response) => response.end(String(process.pid)))
server.listen(Number(process.env.PORT ?? 0), process.argv[2] ?? '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
