/** What people read; `--json` has all of it. */

export function printTask({ id, title, state, lease, leaseHistory, copyOf }) {
  const holder = lease === null ? '' : ` by ${lease.holder} until ${lease.expiresAt}`
  const origin = copyOf === null ? '' : ` (copy of ${copyOf})`
  const history = leaseHistory.map((ended) => `\n     ${ended.end}: ${ended.holder}`)
  return `${id.padEnd(4)} ${state}${holder}  ${title}${origin}${history.join('')}`
}

export function printTasks(tasks) {
  return tasks.length === 0 ? 'No tasks.' : tasks.map((task) => printTask({ ...task, leaseHistory: [] })).join('\n')
}

export function printLease({ task, lease }) {
  return `${printTask({ ...task, leaseHistory: [] })}\nlease ${lease.token}`
}

export function printServer({ home, server }) {
  if (server === null) return `No server runs for ${home}.`
  return `The server (pid ${server.pid}) of ${home} has ${server.tasks} tasks in its store "${server.store}" and ${server.watchers} watchers.`
}

export function printStopped({ stopped }) {
  if (stopped === null) return 'No server runs.'
  return `The server (pid ${stopped.pid}) has drained, removed its locator and closed the connection.`
}

export function printEvent({ event, task }) {
  return task === undefined ? event : `${event.padEnd(9)} ${printTask({ ...task, leaseHistory: [] })}`
}
