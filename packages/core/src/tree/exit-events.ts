import type { Identity } from '@custody/runtime'
import { pause, seeStart } from '@custody/runtime/internals'
import { currentNative, type HeldProcess } from '../platform/index.js'

/** How long to wait at most where an event comes, in milliseconds; it comes at once. */
const BACKSTOP_MS = 250

/** Wakes who waits for exits: when the kernel tells of one, and after a while in any case. */
export class ExitEvents {
  readonly #exits = new Map<string, Promise<void> | null>()
  readonly #held: HeldProcess[] = []

  /** @param leader a child of this process, of which Node tells by itself */
  constructor(leader: { readonly identity: Identity; readonly exited: Promise<unknown> } | null) {
    if (leader !== null) this.#tellOnce(keyOf(leader.identity), leader.exited)
  }

  /** Resolves at the first exit among these; after `waitMs` where nobody tells of one of them; at the latest after `limitMs`. */
  async next(pending: readonly Identity[], waitMs: number, limitMs: number): Promise<void> {
    const exits = pending.map((identity) => this.#exitOf(identity))
    const told = exits.filter((exit) => exit !== null)
    const mostMs = told.length === exits.length ? BACKSTOP_MS : waitMs
    await Promise.race([pause(Math.min(mostMs, limitMs)), ...told])
  }

  release(): void {
    for (const held of this.#held) held.release()
  }

  #exitOf(identity: Identity): Promise<void> | null {
    const key = keyOf(identity)
    if (!this.#exits.has(key)) this.#tellOnce(key, this.#hold(identity))
    return this.#exits.get(key) ?? null
  }

  #hold({ pid, start }: Identity): Promise<void> | null {
    const held = currentNative()?.hold(pid) ?? null
    if (held === null) return null
    this.#held.push(held)
    // What has come to have its number before it was held says nothing of it.
    return seeStart(pid) === start ? held.exited : null
  }

  /** An exit is news once: whoever still counts as pending then, as one that the system hides, is waited for by the clock. */
  #tellOnce(key: string, exit: Promise<unknown> | null): void {
    const told = exit?.then(() => void this.#exits.set(key, null)) ?? null
    this.#exits.set(key, told)
  }
}

function keyOf({ pid, start }: Identity): string {
  return `${pid} ${start}`
}
