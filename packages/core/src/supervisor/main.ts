// The supervisor's program: `node supervisor.cjs serve <run directory>`, and for its sentinel `… sweep <run directory> <record>`. It is
// bundled to one file and needs nothing but Node. It holds neither a terminal nor a directory.
import { type RunRecord, readRunRecord } from './run-record.js'
import { serve } from './serve.js'
import { sweepRun } from './sweep.js'

/** Milliseconds for each tree to obey when nobody is left to wait for it. */
const LAST_GRACE_MS = 2_000

const [action, runDirectory = '', record] = process.argv.slice(2)
const run = record === undefined ? readRunRecord(runDirectory) : (JSON.parse(record) as RunRecord)
if (run === null) throw new Error(`There is no run in ${runDirectory}.`)

if (action === 'serve') void serve(runDirectory, run, LAST_GRACE_MS)
// A runner that still lives is never a target: it sees for itself that its supervisor has gone.
else if (action === 'sweep') void sweepRun(runDirectory, run, [run.runner], LAST_GRACE_MS)
else throw new Error(`There is no action ${action}.`)
