import { clock } from '../clock.js'

/** Counts accepted work: the drain waits for it, and the idle exit waits for its absence. */
export class Work {
  #pending = 0
  #waiting: (() => void)[] = []
  #hasStoppedWaiting = false
  #idle: NodeJS.Timeout | undefined
  readonly #idleMs: number
  readonly #onIdle: () => void

  /** @param idleMs milliseconds without work after which `onIdle` is called once; `Infinity` for never */
  constructor(idleMs: number, onIdle: () => void) {
    this.#idleMs = idleMs
    this.#onIdle = onIdle
    this.#rest()
  }

  get pending(): number {
    return this.#pending
  }

  /** Notes one piece of work. What it returns ends it, once. */
  begin(): () => void {
    this.#pending++
    clock.clearTimeout(this.#idle)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#pending--
      if (this.#pending > 0) return
      for (const wake of this.#waiting.splice(0)) wake()
      this.#rest()
    }
  }

  /** Resolves when there is none. */
  async finished(): Promise<void> {
    while (this.#pending > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** No idle exit any more. */
  stopWaiting(): void {
    this.#hasStoppedWaiting = true
    clock.clearTimeout(this.#idle)
  }

  #rest(): void {
    clock.clearTimeout(this.#idle)
    if (!this.#hasStoppedWaiting && this.#idleMs < 2 ** 31) this.#idle = clock.setTimeout(this.#onIdle, this.#idleMs)
  }
}
