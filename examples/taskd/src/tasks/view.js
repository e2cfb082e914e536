/**
 * A task as everybody may see it. The token of a lease is for its holder alone, who got it with the lease.
 * @param {import('./lease.js').Task} task
 */
export function viewOf(task) {
  return { ...task, lease: task.lease && withoutToken(task.lease), leaseHistory: task.leaseHistory.map(withoutToken) }
}

/** @template {{ token?: string }} L @param {L} lease @returns {Omit<L, 'token'>} */
export function withoutToken({ token: _, ...rest }) {
  return rest
}
