// The line of many package.json files: concurrently, wait-on, and the tests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { heldTests } from '../measure/held-tests.mjs'

const binaries = fileURLToPath(new URL('../node_modules/.bin/', import.meta.url))

export async function start(server) {
  const tests = heldTests(server)
  const wait = `${binaries}wait-on tcp:127.0.0.1:${server.port} && ${tests.command}`
  const child = spawn(`${binaries}concurrently`, ['-k', '-s', 'first', server.command.join(' '), wait], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  await Promise.race([tests.begun(), exited])
  return {
    async stop() {
      tests.release()
      await exited
    },
  }
}
