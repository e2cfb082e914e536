import { fileURLToPath, URL } from 'node:url'
import type { SpawnSite } from '../namespace/birth-state.js'

/** A stack that leads to the user's own line: without the engine's frames, ours, and those of installed packages. Empty when none is left. */
export function stackOfSite(site: SpawnSite | undefined): string {
  // A user's Error.prepareStackTrace may have made anything of it.
  const stack: unknown = site?.stack
  if (typeof stack !== 'string') return ''
  const isUsers = (line: string) =>
    /^\s+at /.test(line) && !/[ (](?:node|ext):|[\\/]node_modules[\\/]/.test(line) && !isOurs(line)
  return stack.split('\n').filter(isUsers).join('\n')
}

/** The stack of a user's own error without what stands between the runner and the test. */
export function withoutOurFrames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !/^\s+at /.test(line) || !isOurs(line))
    .join('\n')
}

/** A frame of these packages, installed or in their own workspace. */
function isOurs(line: string): boolean {
  return INSTALLED.test(line) || ours.some((directory) => line.includes(directory))
}

// pnpm has no two packages beside each other.
const INSTALLED = /[\\/]node_modules[\\/]@custody[\\/](?:core|vitest|jest)[\\/]/
// This package and the adapters beside it, in their own workspace. A user's project may have folders of the same names.
const ours = ['core', 'vitest', 'jest'].map((name) => fileURLToPath(new URL(`../../../${name}/`, import.meta.url)))

/** Has an error lead to the user's line instead of to ours. */
export function leadTo(site: SpawnSite | undefined, error: Error): void {
  const frames = stackOfSite(site)
  error.stack = `${error.name}: ${error.message}${frames && `\n${frames}`}`
}
