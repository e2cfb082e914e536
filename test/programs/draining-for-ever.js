// Never finishes its drain; says when its time has run out.
import { serveRuntime } from '@custody/runtime'

await serveRuntime({
  name: 'draining-for-ever',
  locator: process.argv[2],
  drainMs: Number(process.argv[3]),
  onShutdown: ({ signal, graceMs }) => {
    console.log(`drain of ${graceMs <= 200 ? 'at most' : 'more than'} 200 ms`)
    return new Promise(() => signal.addEventListener('abort', () => console.log('out of time')))
  },
})
console.log('ready')
