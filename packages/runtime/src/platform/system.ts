const slot = Symbol.for('@custody/system.1')
const shared = process as unknown as Record<symbol, NodeJS.Platform | undefined>

// Tests play other systems. As with the clock: whoever loads first in this thread keeps the true name for all copies of this package.
shared[slot] ??= process.platform

/** The operating system, as it was named before any test could name it otherwise. */
export const system: NodeJS.Platform = shared[slot]
