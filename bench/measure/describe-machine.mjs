import { cpus, loadavg, release, type } from 'node:os'

/** One line on what the numbers were measured with. */
export function describeMachine() {
  return `Node ${process.versions.node}, ${type()} ${release()}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`
}
