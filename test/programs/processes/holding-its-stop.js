// Says by a file that it was asked to stop, and stops when another appears. Its argument is their directory.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , directory] = process.argv
process.on('SIGTERM', () => {
  writeFileSync(join(directory, 'at-stopping'), '')
  setInterval(() => existsSync(join(directory, 'go')) && process.exit(), 20)
})
setTimeout(() => {}, 120_000)
console.log('ready')
