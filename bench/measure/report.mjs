import { compare } from './statistics.mjs'
import { tableOf } from './table.mjs'

/** What a bench found, in Markdown: a table for each metric, and whether its goal was met. */
export function report(name, bench, rounds) {
  const { about, contestants, floor = 'floor', metrics, ours = 'custody' } = bench
  const parts = metrics.map((metric) => {
    const compared = Object.fromEntries(contestants.map((each) => [each, compare(rounds, each, floor, metric.key)]))
    const rows = contestants.filter((each) => compared[each] !== null).map((each) => rowOf(each, compared[each], metric))
    return [`${metric.title}`, '', tableOf(rows), ...goalLines(metric, compared[ours])].join('\n')
  })
  return [`\n## ${name}`, `${about} ${rounds.length} rounds.`, ...parts].join('\n\n')
}

function rowOf(
  contestant,
  { difference, least, median, most, quartiles, ratio },
  { digits = 2, isCount = false, isLag = false },
) {
  if (isCount) return { contestant, median: String(median), most: String(most) }
  const shown = (value) => value.toFixed(digits)
  return {
    contestant,
    median: shown(median),
    least: shown(least),
    ...(difference !== null && { 'more than the floor': shown(difference) }),
    // What is almost nothing has no multiples.
    ...(ratio !== null &&
      !isLag && { 'times the floor': ratio.toFixed(2), quartiles: quartiles.map((each) => each.toFixed(2)).join(' … ') }),
  }
}

function goalLines({ goal }, found) {
  if (goal === undefined || found === null) return []
  const value = found[goal.of]
  return ['', `Goal: ${goal.text}. ${value <= goal.atMost ? 'Met' : 'Missed'}: ${Number(value.toFixed(3))}.`]
}
