import { createRequire } from 'node:module'
import type * as koffi from 'koffi'

export type Koffi = typeof koffi

/**
 * Loads koffi, which is an optional peer.
 * @param from files from which on it may be found, in this order
 * @returns null where nobody has installed it, or where its binary does not run
 */
export function loadKoffi(from: readonly string[]): Koffi | null {
  for (const file of from) {
    try {
      return createRequire(file)('koffi') as Koffi
    } catch {
      // Whatever is wrong with it, plain Node does: the report says which level holds.
    }
  }
  return null
}
