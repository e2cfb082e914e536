import { randomBytes } from 'node:crypto'
import { TaskdError } from '../errors.js'

/**
 * @typedef {{ holder: string, token: string, expiresAt: string }} Lease
 * @typedef {{ holder: string, token?: string, expiresAt: string, end: 'completed' | 'expired' | 'paused' }} EndedLease
 * @typedef {'open' | 'leased' | 'done' | 'paused'} State
 * @typedef {{ id: string, title: string, state: State, lease: Lease | null, leaseHistory: EndedLease[], copyOf: string | null }} Task
 */

/** @param {string} holder @param {string} expiresAt @returns {Lease} */
export function newLease(holder, expiresAt) {
  return { holder, token: randomBytes(16).toString('hex'), expiresAt }
}

/**
 * The task after its lease has ended; what becomes of it is the caller's to say.
 * @param {Task} task @param {EndedLease['end']} end @param {State} state @returns {Task}
 */
export function endLease(task, end, state) {
  const ended = task.lease === null ? [] : [{ ...task.lease, end }]
  return { ...task, state, lease: null, leaseHistory: [...task.leaseHistory, ...ended] }
}

/** The task as it is at this moment: a lease that has run out is none. @param {Task} task @param {number} now @returns {Task} */
export function settleLease(task, now) {
  return task.lease !== null && Date.parse(task.lease.expiresAt) <= now ? endLease(task, 'expired', 'open') : task
}

/** @param {Task} task as it is at this moment @param {string} token */
export function requireLease(task, token) {
  if (task.lease?.token === token) return
  throw leaseRefused(task, task.leaseHistory.some((ended) => ended.token === token) ? 'stale' : 'foreign')
}

/**
 * The one answer to whoever may not have a task: the same for every command, and its hint changes nothing.
 * @param {Task} task
 * @param {'stale' | 'foreign' | 'held'} reason the lease has ended; it was never of this task; somebody else holds the task
 */
export function leaseRefused(task, reason) {
  const held = task.lease && { holder: task.lease.holder, expiresAt: task.lease.expiresAt }
  return new TaskdError({ code: 'lease_refused', reason, task: task.id, held, hint: `taskd status --task ${task.id}` })
}
