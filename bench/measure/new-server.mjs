import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const programs = fileURLToPath(new URL('../programs/', import.meta.url))
let count = 0

/**
 * A server to start: what every contestant is given.
 * @param directory where its files go
 * @param commandOf its command, of its port, the file of its stamp and the directory of the programs
 */
export async function newServer(directory, commandOf = serving) {
  const name = `server-${++count}`
  const [port, stampPath] = [await freePort(), join(directory, `${name}.json`)]
  return {
    name,
    port,
    directory,
    command: commandOf({ port, stampPath, programs }),
    readyText: 'ready',
    /** What it has written down itself: its pid, and when it said that it is ready. */
    async stamp() {
      while (!existsSync(stampPath)) await pause(1)
      const { pid, saidAt } = JSON.parse(readFileSync(stampPath, 'utf8'))
      return { pid, saidAt: BigInt(saidAt) }
    },
  }
}

/** A program without a port that is there at once, for where only its start counts. */
export function newProgram(directory, readyText = 'ready') {
  return { name: `program-${++count}`, directory, command: ['/bin/sh', join(programs, 'staying.sh')], readyText }
}

function serving({ port, programs, stampPath }) {
  return [process.execPath, join(programs, 'serving.cjs'), String(port), stampPath]
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
