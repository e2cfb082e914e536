import { join } from 'node:path'
import { openSession, type Session } from '../client/open-session.js'
import { clock } from '../clock.js'
import { Deadline } from '../deadline.js'
import { hasCode } from '../errors.js'
import { readLocator } from '../locator/read-locator.js'

/** One try to reach the supervisor may take this long, in milliseconds. */
const CONNECT_MS = 2_000
/** A supervisor that is on its way when the runtime is there already is waited for, this often and this long in between. */
const TRIES = 20
const PAUSE_MS = 250

/**
 * Holds a connection with the supervisor of the run that this runtime was born in, and calls `onBreak` when it breaks: then the run is
 * over, however it ended. Where there is no supervisor the runtime does without. It does not keep the process alive.
 */
export async function holdLifeline(runDirectory: string, onBreak: () => void): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    let session: Session | null = null
    try {
      session = await openSession(readLocator(join(runDirectory, 'supervisor.json')), Deadline.after(CONNECT_MS))
      session.unref()
      await session.call('attach', { role: 'lifeline' }, Deadline.after(CONNECT_MS))
      void session.ended.then(onBreak)
      return
    } catch (error) {
      session?.close()
      // Whatever is wrong with the supervisor, it is no reason for a daemon to fail.
      if (!hasCode(error, 'CUSTODY_LOCATOR_MISSING')) return
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, PAUSE_MS).unref())
  }
}
