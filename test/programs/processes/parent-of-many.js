// Has a child and a grandchild, each in a session of its own and without its environment, and says their pids. When their
// parent is gone they still stay for a while.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const depth = Number(process.argv[2] ?? 2)
console.log(`pid ${process.pid}`)
if (depth > 0) {
  spawn(process.execPath, [fileURLToPath(import.meta.url), String(depth - 1)], {
    detached: true,
    env: {},
    stdio: ['pipe', 'inherit', 'inherit'],
  })
} else console.log('all there')
process.stdin.resume().on('end', () => setTimeout(() => process.exit(0), 20_000))
