import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { TEMPLATE } from './cluster.js'
import { server } from './server.js'

/**
 * Gives `use` a database of its own, made from the template, and drops it afterwards: 200 of them are a lot of disk.
 * `connect` opens further connections to it.
 */
export async function withDatabase(custody, use) {
  const { ports } = await custody.shared(server)
  const database = `test_${randomBytes(8).toString('hex')}`
  const clients = []
  const connectTo = async (name) => {
    const client = new pg.Client({ host: '127.0.0.1', port: ports.postgres, user: 'postgres', database: name })
    await client.connect()
    clients.push(client)
    return client
  }
  const connect = () => connectTo(database)
  const admin = await connectTo('postgres')
  try {
    await admin.query(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATE}`)
    await use({ client: await connect(), connect, database })
  } finally {
    for (const client of clients.splice(1)) await client.end()
    await admin.query(`DROP DATABASE ${database}`)
    await admin.end()
  }
}
