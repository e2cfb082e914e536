// What stands in the place of these globals in what every worker loads: as they are when it is loaded, before any test.
export const process = globalThis.process
export const Buffer = globalThis.Buffer
