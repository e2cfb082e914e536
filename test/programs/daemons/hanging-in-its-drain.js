// Accepts the shutdown and never finishes its drain.
import { forever, ready, serve } from './daemon.js'

await serve(() => forever, { drainMs: 600_000, signals: false })
setInterval(() => {}, 1_000)
ready()
