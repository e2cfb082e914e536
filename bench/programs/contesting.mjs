// One contestant of one bench: `contesting.mjs <bench> <contestant> [case]`. Measures whenever it is told to.
import { loadBench } from '../benches/index.mjs'

const [benchName, contestantName, caseName] = process.argv.slice(2)
let opened

await answer(async () => {
  const bench = await loadBench(benchName)
  opened = await bench.open(contestantName, caseName)
})
process.on('message', async (word) => {
  if (word === 'measure') return answer(() => opened.measure())
  await opened.close?.()
  process.exit(0)
})

async function answer(act) {
  try {
    process.send({ values: await act() })
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) })
  }
}
