import { ContestantProcess } from './contestant-process.mjs'

/**
 * Has every contestant run once in each round, in an order that is new each time: what slows the machine down for a while slows all of
 * them down, so that they are compared within a round.
 * @param caseName what is measured, for a bench that measures several things
 * @returns {Promise<Record<string, Record<string, number>>[]>} for each round what each contestant measured
 */
export async function pairedRounds(benchName, contestants, count, caseName) {
  const processes = new Map()
  for (const name of contestants) {
    const opened = await attempt(name, () => ContestantProcess.open(benchName, name, caseName))
    if (opened !== null) processes.set(name, opened)
  }
  const rounds = []
  // The first round warms up, and does not count.
  for (let round = 0; round <= count; round++) {
    const results = {}
    for (const name of shuffled([...processes.keys()])) {
      const result = await attempt(name, () => processes.get(name).measure())
      if (result !== null) results[name] = result
      else {
        await processes.get(name).close()
        processes.delete(name)
      }
    }
    if (round > 0) rounds.push(results)
  }
  for (const each of processes.values()) await each.close()
  return rounds
}

/** One that fails is out, and says why; the others go on. */
async function attempt(name, act) {
  try {
    return await act()
  } catch (error) {
    console.error(`${name} is out: ${error.message.split('\n')[0]}`)
    return null
  }
}

function shuffled(names) {
  const keyed = names.map((name) => ({ name, key: Math.random() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ name }) => name)
}
