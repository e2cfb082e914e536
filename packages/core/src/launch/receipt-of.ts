import type { Receipt } from '../retire/receipt.js'
import type { Ended } from '../supervisor/protocol.js'

/** How a started runtime ended, in the form that all runtimes have. */
export function receiptOf({ exit, forced, identity, left, name, scope, signals, tookMs }: Ended, test: string | null): Receipt {
  return {
    version: 1,
    ...{ name, identity, scope },
    ...(test === null ? {} : { test }),
    verdict: 'owned',
    reason: 'it was started by this scope',
    evidence: null,
    steps: [{ step: 'stopped', atMs: tookMs }],
    ...{ signals, forced, left },
    exit: exit === null ? 'not observed' : exit.code === null && exit.signal === null ? 'observed' : exit,
  }
}
