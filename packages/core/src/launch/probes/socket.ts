import { resolve } from 'node:path'
import { tryConnect } from './connect.js'
import { type Probe, retry } from './probe.js'

/** Holds when a Unix socket accepts connections. */
export function socketProbe(path: string): Probe {
  return ({ cwd, ended, note, signal }) => {
    const absolute = resolve(cwd, path)
    return retry({ ended, signal }, async () => {
      const outcome = await tryConnect({ path: absolute }, signal)
      if (typeof outcome !== 'string') {
        outcome.destroy()
        return true
      }
      note(`${absolute} ${outcome}`)
      return false
    })
  }
}
