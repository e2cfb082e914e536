// Exits without taking its locator away.
import { ready, serve } from './daemon.js'

await serve(() => process.exit(0))
ready()
