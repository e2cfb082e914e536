import { fileURLToPath } from 'node:url'
import type { Suite } from '../contract/run-suite.js'
import { unshare } from '../programs/unshare.js'

const program = fileURLToPath(new URL('../programs/sandboxed.sh', import.meta.url))

/** What a sandbox says when nobody is left in it but a stranger, which was there all the time. */
export const ONLY_THE_STRANGER = /^left alive: sleep 97531 ; $/m

/** A command line that runs what follows it in a mount and a pid namespace of its own. @param prepare lines of sh that come first */
export function inSandbox(prepare: string): NonNullable<Suite['wrapper']> {
  return unshare('--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', program, prepare)
}
