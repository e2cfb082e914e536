// Tries to serve from a worker thread, which could not exit for its process.
import { isMainThread, Worker } from 'node:worker_threads'
import { serveRuntime } from '@custody/runtime'

if (isMainThread) {
  new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) })
} else {
  try {
    await serveRuntime({ name: 'serving-in-a-thread', locator: process.argv[2], onShutdown() {} })
    console.log('served')
  } catch (error) {
    console.log(`refused ${error.code}`)
  }
}
