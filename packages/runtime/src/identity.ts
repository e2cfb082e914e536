/**
 * What tells one process from every other of this machine since its boot. `start` is the kernel's, in the platform's own unit and
 * compared only for equality or, on Linux, for order; null where the platform does not tell.
 */
export interface Identity {
  pid: number
  start: string | null
  boot: string | null
  pidns: string | null
  timens: string | null
}

/** Whether two records are of one process. Without a start time nothing is known, so the answer is no. */
export function isSameIdentity(a: Identity, b: Identity): boolean {
  return a.pid === b.pid && a.start !== null && a.start === b.start && a.boot === b.boot && a.pidns === b.pidns
}
