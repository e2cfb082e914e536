// What Jest's environment loads in every worker before any user code, as CommonJS: Node's built-ins only, and no state but what stands on
// `process`, so that all copies share it.

export { type BirthState, birthState } from './birth-state.js'
export { enterFile } from './cells.js'
export { noteEarlySpawns } from './early-spawns.js'
export { markChildren } from './mark-children.js'
