import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Probe, retry } from './probe.js'

/** Holds when a file is there. */
export function fileProbe(path: string): Probe {
  return ({ cwd, ended, note, signal }) => {
    const absolute = resolve(cwd, path)
    return retry({ ended, signal }, () => {
      note(`${absolute} is not there`)
      return existsSync(absolute)
    })
  }
}
