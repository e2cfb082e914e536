// Imports its arguments one after the other, and says what that took.
const [begunAt, before] = [performance.now(), process.cpuUsage()]
for (const specifier of process.argv.slice(2)) await import(specifier)
const { system, user } = process.cpuUsage(before)
console.log(JSON.stringify({ wallMs: performance.now() - begunAt, cpuMs: (user + system) / 1_000 }))
