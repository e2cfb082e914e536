import type { Identity } from '@custody/runtime'
import { clock, hasEnded } from '@custody/runtime/internals'

interface Watched {
  readonly identity: Identity
  /** Null as long as its time is not over. */
  outlived: boolean | null
}

/** Processes that may be just exiting, of which nobody waits for the exit: each gets its time, and then it is looked whether it has gone. */
export class ExitWatchList {
  #watched: Watched[] = []

  /** @param forMs milliseconds that each of them may take */
  watch(identities: readonly Identity[], forMs: number): void {
    const watched = identities.map((identity): Watched => ({ identity, outlived: null }))
    this.#watched.push(...watched)
    clock
      .setTimeout(() => {
        for (const each of watched) each.outlived = isAlive(each.identity)
      }, forMs)
      .unref()
  }

  /** Those that were there when their time was over, or are there now; asked for once. */
  takeOutlived(): Identity[] {
    const watched = this.#watched
    this.#watched = []
    return watched.filter(({ identity, outlived }) => outlived ?? isAlive(identity)).map(({ identity }) => identity)
  }
}

function isAlive(identity: Identity): boolean {
  return hasEnded(identity) !== true
}
