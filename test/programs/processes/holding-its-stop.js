// Says by a file that it was asked to stop, and stops when another appears. Its argument is their directory.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , directory] = process.argv
const until = Date.now() + 120_000
process.on('SIGTERM', () => {
  writeFileSync(join(directory, 'at-stopping'), '')
  setInterval(() => (Date.now() > until || existsSync(join(directory, 'go'))) && process.exit(), 20)
})
setTimeout(() => {}, 120_000)
console.log('ready')
