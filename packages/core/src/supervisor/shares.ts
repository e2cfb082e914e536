import type { ShareAnswer, SharedRuntime } from './protocol.js'
import type { Client } from './supervisor.js'

interface Share {
  readonly fingerprint: string
  /** Whether it is from before the run of a watch mode that goes on now. */
  isFromBefore: boolean
  starter: Client
  runtime: SharedRuntime | null
  readonly waiting: { readonly client: Client; answer(answer: ShareAnswer): void }[]
}

/** One start for all who ask for the same shared runtime: the first starts it, the others wait for what comes of it. */
export class Shares {
  readonly #shares = new Map<string, Share>()

  /**
   * @param key what makes it the same: project, slot or file, and name
   * @param fingerprint of its definition; another one under the same key is a mistake
   */
  ask(client: Client, key: string, fingerprint: string): Promise<ShareAnswer> {
    const share = this.#shares.get(key)
    if (share === undefined) {
      this.#shares.set(key, { fingerprint, isFromBefore: false, starter: client, runtime: null, waiting: [] })
      return Promise.resolve({ role: 'starter' })
    }
    if (share.fingerprint !== fingerprint) {
      return Promise.resolve({
        role: 'refused',
        problem: 'another definition has this name already, or its spec has given something else',
      })
    }
    if (share.runtime !== null) return Promise.resolve({ role: 'guest', runtime: share.runtime })
    return new Promise((answer) => share.waiting.push({ client, answer }))
  }

  /** What came of a start. A failed one is forgotten: the next who asks tries again. */
  tell(key: string, outcome: SharedRuntime | { readonly problem: string }): void {
    const share = this.#shares.get(key)
    if (share === undefined) return
    if ('problem' in outcome) this.#shares.delete(key)
    else share.runtime = outcome
    const answer: ShareAnswer =
      'problem' in outcome ? { role: 'refused', problem: outcome.problem } : { role: 'guest', runtime: outcome }
    for (const waiting of share.waiting.splice(0)) waiting.answer(answer)
  }

  /** A new run has begun in watch mode: what has been kept may have another definition by now. */
  beginRerun(): void {
    for (const share of this.#shares.values()) share.isFromBefore = true
  }

  /**
   * The runtime under a key that was made by another definition and may be replaced: it was kept from a run before, or what it needs has
   * gone.
   * @param hasLost whether something is gone that a runtime needs
   */
  findOutdated(key: string, fingerprint: string, hasLost: (id: string) => boolean): SharedRuntime | null {
    const share = this.#shares.get(key)
    if (share === undefined || share.runtime === null || share.fingerprint === fingerprint) return null
    return share.isFromBefore || hasLost(share.runtime.id) ? share.runtime : null
  }

  /** A runtime has exited: the next who asks starts another. */
  forget(id: string): void {
    for (const [key, share] of this.#shares) if (share.runtime?.id === id) this.#shares.delete(key)
  }

  /** A client has gone. If it was starting something, the next in line starts it. */
  drop(client: Client): void {
    for (const [key, share] of this.#shares) {
      const stillThere = share.waiting.filter((waiting) => waiting.client !== client)
      share.waiting.splice(0, share.waiting.length, ...stillThere)
      if (share.starter !== client || share.runtime !== null) continue
      const next = share.waiting.shift()
      if (next === undefined) this.#shares.delete(key)
      else {
        share.starter = next.client
        next.answer({ role: 'starter' })
      }
    }
  }
}
