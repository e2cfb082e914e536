// A runner that is going to be killed: starts servers, tells who there is, and waits. `running.mjs <contestant> <count> <directory>`
import { openContestant } from '../contestants/index.mjs'
import { newServer } from '../measure/new-server.mjs'
import { descendantsOf, identityOf } from '../measure/process-table.mjs'

const [name, count, directory] = process.argv.slice(2)
const contestant = await openContestant(name)
const servers = await Promise.all(Array.from({ length: Number(count) }, () => newServer(directory)))
await Promise.all(servers.map((server) => contestant.start(server)))

const stamps = await Promise.all(servers.map((server) => server.stamp()))
const others = descendantsOf(process.pid).filter(({ pid }) => !stamps.some((stamp) => stamp.pid === pid))
process.send({ servers: stamps.map(({ pid }) => identityOf(pid)), others })
setInterval(() => {}, 1_000_000)
