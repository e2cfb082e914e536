// Reserves ports, begins to listen on them only a moment later, as a server does that boots, and keeps them.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'

const [module, base, holder, count] = process.argv.slice(2)
const { reservePorts } = await import(module)
const names = Array.from({ length: Number(count) }, (_, at) => `p${at}`)
const { ports } = await reservePorts(names, base, JSON.parse(holder))
await setTimeout(50)
const listening = Object.values(ports).map((port) => once(createServer().listen(port, '127.0.0.1'), 'listening'))
await Promise.all(listening).then(
  () => console.log(`took ${Object.values(ports).join(' ')}`),
  ({ message }) => console.log(`could not take ${message}`),
)
