// Exits when it was idle for a while; works from the beginning, where that is asked for, to the line "end" on stdin.
import { createInterface } from 'node:readline'
import { serveRuntime } from '@custody/runtime'

const [locator, idleMs, isWorking] = process.argv.slice(2)
const runtime = await serveRuntime({
  name: 'leaving-when-idle',
  locator,
  idleMs: Number(idleMs),
  onShutdown: ({ reason }) => console.log(`draining because of ${reason}`),
})
const work = isWorking === 'working' ? runtime.track() : null
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'end') work?.[Symbol.dispose]()
})
console.log('ready')
