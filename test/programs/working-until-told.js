// Has one piece of accepted work, which ends with a line on stdin.
import { once } from 'node:events'
import { serveRuntime } from '@custody/runtime'

const runtime = await serveRuntime({
  name: 'working-until-told',
  locator: process.argv[2],
  onShutdown: () => console.log('nothing to flush'),
})
const work = runtime.track()
once(process.stdin, 'data').then(() => {
  console.log('work done')
  work[Symbol.dispose]()
})
console.log('ready')
