export function median(values) {
  return quantile(values, 0.5)
}

/** The value below which a part of them lies; between two of them, in proportion. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
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
  const ratios = pairs.map(([mine, theirs]) => mine / theirs)
  return {
    median: median(own),
    least: Math.min(...own),
    most: Math.max(...own),
    difference: pairs.length > 0 ? median(pairs.map(([mine, theirs]) => mine - theirs)) : null,
    ratio: ratios.length > 0 ? median(ratios) : null,
    quartiles: ratios.length > 0 ? [quantile(ratios, 0.25), quantile(ratios, 0.75)] : null,
  }
}
