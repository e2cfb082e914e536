// Leaves when it is asked to, three seconds later.
import { setTimeout } from 'node:timers/promises'
import { ready, serve } from './daemon.js'

await serve(() => setTimeout(3_000))
ready()
