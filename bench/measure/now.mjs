/** Nanoseconds of the monotonic clock, which all processes of a machine share. */
export const now = process.hrtime.bigint

/** Milliseconds between two moments. */
export function msBetween(from, to) {
  return Number(to - from) / 1e6
}
