import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from '@custody/runtime'
import { CustodyError, Deadline, hasCode, openSession, readLocator, type Session } from '@custody/runtime/internals'
import { type Attachment, type ExitNotice, type StreamNotice, SUPERVISOR_LINE_BYTES } from './protocol.js'

/** How long the supervisor may take to be there, in milliseconds: a loaded machine starts a Node slowly. */
const BOOT_MS = 20_000
/** How long it may take for what is no more than a word, in milliseconds. */
const WORD_MS = 10_000
/** How often a supervisor may hang up before it counts as out of reach. */
const MAX_ATTEMPTS = 5

/** A connection with the supervisor, which is also a lease: what its holder has started ends with it. */
export class SupervisorLink {
  readonly locator: Locator
  readonly #session: Session
  readonly #exits = new Map<string, ExitNotice>()
  readonly #listeners = new Set<(notice: ExitNotice) => void>()
  /** Called when something was started whose output is to be shown as it comes. */
  onStreamed: (notice: StreamNotice) => void = () => {}

  private constructor(locator: Locator, session: Session) {
    this.locator = locator
    this.#session = session
    session.onNotification = (method, params) => {
      if (method === 'streamed') this.onStreamed(params as StreamNotice)
      if (method !== 'exited') return
      const notice = params as ExitNotice
      this.#exits.set(keyOf(notice), notice)
      for (const listener of this.#listeners) listener(notice)
    }
    session.unref()
  }

  /**
   * Connects and attaches. The supervisor may be still on its way.
   * @throws CUSTODY_SUPERVISOR_UNREACHABLE
   */
  static async open(runDirectory: string, attachment: Attachment): Promise<SupervisorLink> {
    const deadline = Deadline.after(BOOT_MS)
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await SupervisorLink.#attach(runDirectory, attachment, deadline)
        } catch (error) {
          // It hangs up on who says nothing, as this thread could not while something held it.
          if (attempt === MAX_ATTEMPTS || !hasCode(error, 'CUSTODY_CONNECTION_CLOSED')) throw error
        }
      }
    } catch (cause) {
      throw new CustodyError(
        'CUSTODY_SUPERVISOR_UNREACHABLE',
        `Could not reach the supervisor of this run: ${(cause as Error).message.split('\n')[0]}`,
        {
          hint: `look into ${join(runDirectory, 'supervisor.log')}; without it nothing can be started.`,
          facts: { runDirectory },
          cause,
        },
      )
    }
  }

  static async #attach(runDirectory: string, attachment: Attachment, deadline: Deadline): Promise<SupervisorLink> {
    const locator = await waitForLocator(runDirectory, deadline)
    const session = await openSession(locator, deadline, { lineBytes: SUPERVISOR_LINE_BYTES })
    const link = new SupervisorLink(locator, session)
    await link.call('attach', attachment)
    return link
  }

  /** Resolves when the connection has ended. */
  get ended(): Promise<void> {
    return this.#session.ended
  }

  call<T>(method: string, params: unknown, timeoutMs: number = WORD_MS): Promise<T> {
    return this.#session.call(method, params, Deadline.after(timeoutMs)) as Promise<T>
  }

  /** How a runtime has exited, as far as it was told by now: its daemon, or else its first process. */
  peekExit(id: string): ExitNotice | null {
    return this.#exits.get(keyOf({ id, isDaemon: true })) ?? this.#exits.get(keyOf({ id, isDaemon: false })) ?? null
  }

  /** Resolves when the first process of a runtime has exited, or its daemon. */
  exitOf(id: string, isDaemon = false): Promise<ExitNotice> {
    const known = this.#exits.get(keyOf({ id, isDaemon }))
    if (known !== undefined) return Promise.resolve(known)
    const exit = new Promise<ExitNotice>((resolve, reject) => {
      void this.ended.then(() => reject(connectionEnded(id)))
      const listener = (notice: ExitNotice) => {
        if (notice.id !== id || notice.isDaemon !== isDaemon) return
        this.#listeners.delete(listener)
        resolve(notice)
      }
      this.#listeners.add(listener)
    })
    // Often nobody waits for it.
    exit.catch(() => {})
    return exit
  }

  /** Has the logs of ended runtimes removed: their scope is over, and nobody reads them any more. */
  async removeLogs(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await this.call('removeLogs', { ids }).catch((error: unknown) => {
      // They go with the run then.
      if (!isLoss(error)) throw error
    })
  }

  /** Ends it when its holder has accounted for all that it had started: otherwise whatever was born there is ended. */
  async leave(): Promise<void> {
    // Who has gone before needs no word.
    await this.call('leave', {}).catch(() => null)
    this.close()
  }

  close(): void {
    this.#session.close()
  }
}

/** Whether an error says that the supervisor is gone, or does not answer any more. */
export function isLoss(error: unknown): boolean {
  return hasCode(error, 'CUSTODY_CONNECTION_CLOSED', 'CUSTODY_ANSWER_TIMEOUT')
}

function keyOf({ id, isDaemon }: Pick<ExitNotice, 'id' | 'isDaemon'>): string {
  return isDaemon ? `daemon of ${id}` : id
}

async function waitForLocator(runDirectory: string, deadline: Deadline): Promise<Locator> {
  const path = join(runDirectory, 'supervisor.json')
  for (;;) {
    try {
      return readLocator(path)
    } catch (error) {
      if (!hasCode(error, 'CUSTODY_LOCATOR_MISSING') || deadline.hasPassed) throw error
    }
    await nextChange(runDirectory)
  }
}

/** How long to wait for a notice of a change, in milliseconds. */
const LOOK_EVERY_MS = 20

/** Resolves when something changes in a directory, or a little later in any case: a change may have come before the watch. */
function nextChange(directory: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watchOrNull(directory, done)
    const cancel = Deadline.after(LOOK_EVERY_MS).onPassed(done)
    function done(): void {
      cancel()
      watcher?.close()
      resolve()
    }
  })
}

function watchOrNull(directory: string, listener: () => void): FSWatcher | null {
  try {
    return watch(directory, listener).on('error', listener)
  } catch (error) {
    // The machine has no watches left: the timer looks.
    if (hasCode(error, 'EMFILE', 'ENOSPC')) return null
    throw error
  }
}

function connectionEnded(id: string): CustodyError {
  return new CustodyError(
    'CUSTODY_CONNECTION_CLOSED',
    'Could not learn how a runtime exited: the connection with the supervisor has ended.',
    {
      hint: 'wait for it while its scope is running.',
      facts: { id },
    },
  )
}
