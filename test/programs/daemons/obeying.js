// Leaves when it is asked to.
import { ready, serve } from './daemon.js'

await serve()
ready()
