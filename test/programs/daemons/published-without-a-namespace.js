// Does not know its namespace, like a program behind sudo or `env -i`; its initial environment still shows it, or not.
import { ready, serve } from './daemon.js'

delete process.env.CUSTODY_NAMESPACE
await serve()
ready()
