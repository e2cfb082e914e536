import { createRequire } from 'node:module'
import { fileURLToPath, URL } from 'node:url'
import { compileFunction } from 'node:vm'

type InUse = typeof import('./in-use.js')

/** The text of `in-use.js` and what it imports, as one CommonJS module: the build puts it in the place of this name. */
declare const IN_USE: string | undefined

let inUse: InUse | null = null

/**
 * What a scope needs when something was started in it. V8 skips a text far faster than it parses code, and the text is there when it is
 * needed: by then a test may have put a file system of its own in the place of the true one.
 */
export async function loadInUse(): Promise<InUse> {
  inUse ??= typeof IN_USE === 'undefined' ? await import('./in-use.js') : compile(IN_USE)
  return inUse
}

/** Null until it was needed once. */
export function inUseIfLoaded(): InUse | null {
  return inUse
}

function compile(text: string): InUse {
  const module = { exports: {} as InUse }
  const filename = fileURLToPath(new URL('in-use.cjs', import.meta.url))
  compileFunction(text, ['require', 'module', '__filename'], { filename })(createRequire(import.meta.url), module, filename)
  return module.exports
}
