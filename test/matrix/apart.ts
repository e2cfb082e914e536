import { fileURLToPath } from 'node:url'
import { bundleScript } from '../programs/bundle-script.js'
import { unsharePids } from '../programs/unshare.js'

const here = fileURLToPath(new URL('.', import.meta.url))

/** What comes before the command line of whatever may meet a dangerous number. */
export const apart: readonly [string, ...string[]] = unsharePids()

/** Makes one module of a script that plays rows, for a process of its own. The programs of the tests are where they are. */
export function bundleStage(script: string): string {
  return bundleScript(script, here, new URL('../runtime/spawn-program.ts', import.meta.url).href)
}
