// Exits when it was idle for a while; works from the line "begin" on stdin to the line "end".
import { createInterface } from 'node:readline'
import { serveRuntime } from '@custody/runtime'

const [locator, idleMs] = process.argv.slice(2)
const runtime = await serveRuntime({
  name: 'leaving-when-idle',
  locator,
  idleMs: Number(idleMs),
  onShutdown: ({ reason }) => console.log(`draining because of ${reason}`),
})
let work
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'begin') work = runtime.track()
  else work[Symbol.dispose]()
  console.log(`did ${line}`)
})
console.log('ready')
