import { copyCluster, serverCommand } from './cluster.js'

/** The server of a worker: started by the first test there that asks for it, and stopped with the run. */
export const server = {
  scope: 'worker',
  name: 'postgres',
  ports: ['postgres'],
  command: ({ namespace, ports }) => serverCommand(copyCluster(`${namespace}-${ports.postgres}`), ports.postgres),
  cwd: process.env.PG_EXAMPLE_DIRECTORY,
  // It accepts connections earlier than it can serve them.
  ready: { log: 'ready to accept connections' },
  // Fast: by SIGTERM it would wait until the last client has left.
  stopSignal: 'SIGINT',
}
