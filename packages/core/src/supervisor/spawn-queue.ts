import { clock } from '@custody/runtime/internals'

/** Starts one process a turn, and takes turns among clients: a burst of one must not keep the others' news from them. */
export class SpawnQueue<Client extends object> {
  readonly #waiting = new Map<Client, (() => Promise<void>)[]>()
  #isRunning = false

  /** Runs `start` when it is its client's turn. */
  add<T>(client: Client, start: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const jobs = this.#waiting.get(client) ?? []
      jobs.push(() => start().then(resolve, reject))
      this.#waiting.set(client, jobs)
      if (!this.#isRunning) void this.#run()
    })
  }

  /** Forgets what a client that has gone still wanted. */
  drop(client: Client): void {
    // Emptied as well: the round that runs now may still hold it.
    this.#waiting.get(client)?.splice(0)
    this.#waiting.delete(client)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.size > 0) {
      for (const [client, jobs] of [...this.#waiting]) {
        const job = jobs.shift()
        if (jobs.length === 0) this.#waiting.delete(client)
        await job?.()
        await new Promise<void>((resolve) => clock.setImmediate(resolve))
      }
    }
    this.#isRunning = false
  }
}
