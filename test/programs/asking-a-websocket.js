// Sends one message to a WebSocket, prints the first answer, and exits. Node 20 needs `--experimental-websocket`.
const [url, message] = process.argv.slice(2)

const socket = new WebSocket(url)
socket.addEventListener('open', () => socket.send(message))
socket.addEventListener('message', ({ data }) => {
  console.log(String(data))
  socket.close()
})
socket.addEventListener('error', ({ message: problem = 'no connection' }) => {
  console.error(problem)
  process.exitCode = 1
})
