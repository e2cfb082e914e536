import { resolve } from 'node:path'
import { Deadline, isCustodyError, openSession, readLocator } from '@custody/runtime/internals'
import { type Probe, retry } from './probe.js'

/** One proof may take this long, in milliseconds. */
const PROOF_MS = 2_000

/** Holds when a locator is published whose live process knows its token, and was born of this runtime. */
export function locatorProbe(path: string): Probe {
  return ({ cwd, ended, note, owns, signal }) => {
    const absolute = resolve(cwd, path)
    return retry({ ended, signal }, async () => {
      try {
        const locator = readLocator(absolute)
        const session = await openSession(locator, Deadline.after(PROOF_MS))
        session.close()
        note(`${absolute} belongs to pid ${locator.pid}, which is not of this runtime`)
        return owns(locator.pid)
      } catch (error) {
        if (!isCustodyError(error)) throw error
        note(error.message.split('\n')[0] ?? '')
        return false
      }
    })
  }
}
