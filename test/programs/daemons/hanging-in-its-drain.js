// Accepts the shutdown and never finishes its drain. As it has other things to do, nothing cuts it.
import { forever, ready, serve } from './daemon.js'

await serve(() => forever, { exit: false, signals: false })
setInterval(() => {}, 1_000)
ready()
