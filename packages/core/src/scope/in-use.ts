// What `load-in-use.ts` loads, as one module.

export { normalizeTitle } from '../leaks/signature.js'
export { writeEvents } from '../report/events.js'
export { SupervisorLink } from '../supervisor/link.js'
export { endNow } from './end-now.js'
export { explainRemoval } from './explain-removal.js'
export { leakPolicyOf } from './leak-policy.js'
export { noteStray } from './note-stray.js'
export { settleInTime } from './settle-in-time.js'
export { capture } from './teardown.js'
