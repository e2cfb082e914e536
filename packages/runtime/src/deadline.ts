import { clock } from './clock.js'
import { noteFired, stoppedSince, watchForStops } from './running-time.js'

/** How often who waits looks whether its thread was held, in milliseconds: a hold that ends before the deadline does not count either. */
const LOOK_EVERY_MS = 1_000

/**
 * An absolute moment. It is split among steps and never stretched: an additional step gets what is left. Time in which its process could not
 * run does not count: at a breakpoint, or while code held the thread and something that would have been in time lay unread.
 */
export class Deadline {
  readonly #madeAt: number
  readonly #at: number

  private constructor(at: number) {
    watchForStops()
    this.#madeAt = clock.now()
    this.#at = at
  }

  /** @param ms milliseconds from now; `Infinity` never passes. */
  static after(ms: number): Deadline {
    return new Deadline(clock.now() + ms)
  }

  /** The moment, by the clock: later by what has not counted so far. */
  get at(): number {
    return this.#at + stoppedSince(this.#madeAt)
  }

  /** The earlier of this deadline and `ms` milliseconds from now. */
  within(ms: number): Deadline {
    return new Deadline(Math.min(this.at, clock.now() + ms))
  }

  /** A later deadline, for what happens after this one has passed. */
  plus(ms: number): Deadline {
    return new Deadline(this.at + ms)
  }

  /** Milliseconds left, never negative. */
  get leftMs(): number {
    return Math.max(0, this.at - clock.now())
  }

  /** Milliseconds since it passed; 0 before. */
  get lateMs(): number {
    return Math.max(0, clock.now() - this.at)
  }

  get hasPassed(): boolean {
    return clock.now() >= this.at
  }

  /** Calls `action` once when the deadline passes. The returned function cancels it. A waiting deadline keeps the process alive. */
  onPassed(action: () => void): () => void {
    if (this.leftMs === Infinity) return () => {}
    const wait = () => {
      const ms = Math.min(Math.ceil(this.leftMs), LOOK_EVERY_MS)
      const dueMs = clock.now() + ms
      return clock.setTimeout(() => {
        noteFired(dueMs)
        if (this.hasPassed) action()
        else timer = wait()
      }, ms)
    }
    let timer = wait()
    return () => clock.clearTimeout(timer)
  }
}

/** Resolves after `ms` milliseconds of the true clock. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => Deadline.after(ms).onPassed(resolve))
}
