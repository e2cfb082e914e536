import { TaskdError } from '../errors.js'
import { endLease, leaseRefused, newLease, requireLease, settleLease } from './lease.js'
import { viewOf, withoutToken } from './view.js'

/** The rules. Every method is synchronous: what has begun is done, whether its caller still listens or not. */
export class Tasks {
  #store
  #announce
  #now

  /**
   * @param {import('../stores/open-store.js').Store} store
   * @param {{ announce?: (event: string, task: unknown) => void, now?: () => number }} [options]
   */
  constructor(store, { announce = () => {}, now = Date.now } = {}) {
    this.#store = store
    this.#announce = announce
    this.#now = now
  }

  get count() {
    return this.#store.count()
  }

  list() {
    return this.#store.all().map((task) => viewOf(settleLease(task, this.#now())))
  }

  /** @param {string} id */
  inspect(id) {
    return viewOf(this.#find(id))
  }

  /** @param {{ title: string }} request */
  add({ title }) {
    return this.#save('added', { id: this.#nextId(), title, state: 'open', lease: null, leaseHistory: [], copyOf: null })
  }

  /** @param {string} id @param {{ holder: string, ttlMs: number }} request */
  lease(id, { holder, ttlMs }) {
    const task = this.#find(id)
    if (task.state === 'leased') throw leaseRefused(task, 'held')
    if (task.state !== 'open') throw notOpen(task)
    const lease = newLease(holder, this.#inFuture(ttlMs))
    return { task: this.#save('leased', { ...task, state: 'leased', lease }), lease }
  }

  /** @param {string} id @param {{ lease: string, ttlMs: number }} request */
  renew(id, { lease: token, ttlMs }) {
    const task = this.#find(id)
    requireLease(task, token)
    const lease = { ...task.lease, expiresAt: this.#inFuture(ttlMs) }
    return { task: this.#save('renewed', { ...task, lease }), lease }
  }

  /** @param {string} id @param {{ lease: string }} request */
  complete(id, { lease }) {
    const task = this.#find(id)
    requireLease(task, lease)
    return this.#save('completed', endLease(task, 'completed', 'done'))
  }

  /** @param {string} id @param {{ lease?: string }} request a lease is not needed, but one that is given must be valid */
  copy(id, { lease }) {
    const task = this.#find(id)
    if (lease !== undefined) requireLease(task, lease)
    const leaseHistory = task.leaseHistory.map(withoutToken)
    return this.#save('copied', { ...task, id: this.#nextId(), state: 'open', lease: null, leaseHistory, copyOf: id })
  }

  /** @param {string} id @param {{ lease?: string, off?: boolean }} request as for `copy`; `off` ends the pause */
  pause(id, { lease, off = false }) {
    const task = this.#find(id)
    if (lease !== undefined) requireLease(task, lease)
    if (task.state === 'done') throw notOpen(task)
    if (!off) return this.#save('paused', endLease(task, 'paused', 'paused'))
    return task.state === 'paused' ? this.#save('resumed', { ...task, state: 'open' }) : viewOf(task)
  }

  #find(id) {
    const task = this.#store.get(id)
    if (task === undefined) {
      throw new TaskdError({ code: 'no_such_task', message: `There is no task ${id}.`, task: id, hint: 'taskd list' })
    }
    return settleLease(task, this.#now())
  }

  #save(event, task) {
    this.#store.put(task)
    const view = viewOf(task)
    this.#announce(event, view)
    return view
  }

  // Tasks are never deleted, so their number is the last one's.
  #nextId() {
    return `t${this.#store.count() + 1}`
  }

  #inFuture(ms) {
    return new Date(this.#now() + ms).toISOString()
  }
}

function notOpen({ id, state }) {
  const message = `Task ${id} is ${state}.`
  return new TaskdError({ code: 'task_not_open', message, task: id, state, hint: `taskd status --task ${id}` })
}
