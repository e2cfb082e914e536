import { ifLoaded, lazily } from './lazily.js'

type InUse = typeof import('./in-use.js')

/** What a scope needs when something was started in it. */
export function loadInUse(): Promise<InUse> {
  return lazily('in-use', () => import('./in-use.js'))
}

/** Null until it was needed once. */
export function inUseIfLoaded(): InUse | null {
  return ifLoaded('in-use')
}
