// Accepts the shutdown, says so by a file, and drains until another file appears.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ready, serve } from './daemon.js'

const directory = process.env.HELD
await serve(
  async () => {
    writeFileSync(join(directory, `accepted-${process.pid}`), '')
    while (!existsSync(join(directory, 'go'))) await setTimeout(20)
  },
  { locator: join(process.env.HOME, `held-${process.pid}.json`) },
)
ready()
