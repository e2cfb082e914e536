// What the kernel says of processes: read here, and not by what is measured.
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second, whatever its own clock does. */
const TICK_MS = 10

/** A process by its number and start time, or null when there is none. A zombie is none. */
export function identityOf(pid) {
  const fields = readStat(pid)
  return fields === null || fields.state === 'Z' ? null : { pid, start: fields.start }
}

export function isAlive({ pid, start }) {
  return identityOf(pid)?.start === start
}

/** Kills what is still there of a bench's own processes. */
export function endAll(identities) {
  // One may end with another, while this goes through them.
  for (const identity of identities) {
    if (!isAlive(identity)) continue
    try {
      process.kill(identity.pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
}

/** Everything below a process now. */
export function descendantsOf(pid) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), ...readStat(name) }))
  const below = (parent) => all.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)])
  return below(pid).map(({ pid, start }) => ({ pid, start }))
}

/** CPU time of this process and of all children that it has reaped, theirs included, in milliseconds. */
export function cpuMs() {
  const { ticks } = readStat('self')
  return ticks.reduce((sum, each) => sum + each, 0) * TICK_MS
}

function readStat(pid) {
  let line
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null
    throw error
  }
  // The name before the last parenthesis may hold spaces.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0], parent: Number(fields[1]), ticks: fields.slice(11, 15).map(Number), start: fields[19] }
}
