// Obeys no polite signal; says how often it got each.
const counts = { SIGTERM: 0, SIGINT: 0, SIGCONT: 0 }
for (const signal of Object.keys(counts)) {
  process.on(signal, () => console.log(`${signal} ${++counts[signal]}`))
}
setInterval(() => {}, 60_000)
console.log('ready')
