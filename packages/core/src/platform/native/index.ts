import { system } from '@custody/runtime/internals'
import { linuxNative } from './linux-native.js'
import { loadKoffi } from './load-koffi.js'
import type { Native } from './native.js'

export type { HeldPeer, HeldProcess, Mechanism, Native } from './native.js'

let native: Native | null = null

/** The native layer of this process: null as long as nobody has enabled it, and where there is none. */
export function currentNative(): Native | null {
  return native
}

/**
 * Enables it for this process. It costs some 10 ms.
 * @param from files from which on its library may be found, in this order
 */
export function enableNative(from: readonly string[]): Native | null {
  // macOS and Windows have other calls, of which none is verified: plain Node does there.
  const koffi = native === null && system === 'linux' ? loadKoffi(from) : null
  if (koffi !== null) native = linuxNative(koffi)
  return native
}
