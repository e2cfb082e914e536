// What stands behind `webServer` of @playwright/test, set to its best: it waits for the line, and asks before it kills.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(createRequire(import.meta.url).resolve('@playwright/test'))
const { webServer } = require(join(dirname(require.resolve('playwright/package.json')), 'lib/runner/index.js'))

export async function start({ command, directory, readyText }) {
  const plugin = webServer({
    command: command.join(' '),
    wait: { stdout: new RegExp(readyText) },
    timeout: 60_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5_000 },
  })
  await plugin.setup({}, directory, {})
  return { stop: () => plugin.teardown() }
}
