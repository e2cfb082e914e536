// Is stopped, as by a terminal, as soon as it has accepted the shutdown.
import { forever, ready, serve } from './daemon.js'

await serve(() => {
  process.kill(process.pid, 'SIGSTOP')
  return forever
})
ready()
