export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * What the rounds say of one contestant's value: by itself, and against the floor of the same round.
 * @returns null when it took part in no round
 */
export function compare(rounds, contestant, floor, key) {
  const own = rounds.flatMap((round) => (round[contestant]?.[key] === undefined ? [] : [round[contestant][key]]))
  if (own.length === 0) return null
  const pairs = rounds
    .filter((round) => round[contestant]?.[key] !== undefined && round[floor]?.[key] !== undefined)
    .map((round) => [round[contestant][key], round[floor][key]])
  return {
    median: median(own),
    least: Math.min(...own),
    most: Math.max(...own),
    difference: pairs.length > 0 ? median(pairs.map(([mine, theirs]) => mine - theirs)) : null,
    ratio: pairs.length > 0 ? median(pairs.map(([mine, theirs]) => mine / theirs)) : null,
  }
}
