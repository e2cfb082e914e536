import { fileURLToPath } from 'node:url'
import { bundleScript } from '../programs/bundle-script.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const asRoot = process.geteuid?.() === 0 ? [] : ['--map-root-user']

/**
 * Starts what is given to it in namespaces of its own, of pids and of mounts, in which the first process is a shell: what goes astray there
 * hits nobody outside, and nothing stays.
 */
export const apart: readonly [string, ...string[]] = [
  'unshare',
  ...[...asRoot, '--pid', '--fork', '--kill-child', '--mount-proc'],
  ...['/bin/sh', '-c', '"$@"; exit $?', 'sh'],
]

/** Makes one module of a script that plays rows, for a process of its own. The programs of the tests are where they are. */
export function bundleStage(script: string): string {
  return bundleScript(script, here, new URL('../runtime/spawn-program.ts', import.meta.url).href)
}
