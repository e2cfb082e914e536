// Runs the benches and prints their tables: `node bench/run.mjs [name…] [--rounds n] [--only contestant,…]
// [--case case,…]`. Nothing fails when a goal is missed.
import { parseArgs } from 'node:util'
import { names as all, loadBench } from './benches/index.mjs'
import { installPeers } from './install-peers.mjs'
import { describeMachine } from './measure/describe-machine.mjs'
import { pairedRounds } from './measure/paired-rounds.mjs'
import { report } from './measure/report.mjs'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string' }, only: { type: 'string' }, case: { type: 'string' } },
})
const names = positionals.length > 0 ? positionals : all
const unknown = names.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}. There are: ${all.join(', ')}.`)
  process.exit(2)
}

installPeers()
console.log(describeMachine())
for (const name of names) {
  const bench = await loadBench(name)
  const contestants = chosen(bench.contestants, values.only)
  for (const caseName of chosen(bench.cases ?? [undefined], values.case)) {
    const rounds = await pairedRounds(name, contestants, Number(values.rounds ?? bench.rounds), caseName)
    console.log(report(caseName ?? name, bench, rounds))
  }
}

function chosen(all, list) {
  return all.filter((each) => list === undefined || each === undefined || list.split(',').includes(each))
}
