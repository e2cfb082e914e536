// A debugger that lets its program stand at each breakpoint for a time, and says so. Node 20 needs `--experimental-websocket`.
import { setTimeout } from 'node:timers/promises'

const [url, ms] = process.argv.slice(2)

const socket = new WebSocket(url)
let sent = 0
const send = (method) => socket.send(JSON.stringify({ id: ++sent, method }))
socket.addEventListener('open', () => send('Debugger.enable'))
socket.addEventListener('message', async ({ data }) => {
  const { id, method } = JSON.parse(String(data))
  if (id === 1) console.log('attached')
  if (method === 'Debugger.resumed') console.log('resumed')
  if (method !== 'Debugger.paused') return
  console.log('paused')
  await setTimeout(Number(ms))
  send('Debugger.resume')
})
socket.addEventListener('error', ({ message: problem = 'no connection' }) => {
  console.error(problem)
  process.exitCode = 1
})
