import { once } from 'node:events'
import { balances, openAccount, transfer } from '../bank.js'
import { withDatabase } from '../with-database.js'
import { fifty } from './fifty.js'

/** @param {{ custody: any, describe: any, test: any, expect: any }} runner */
export function describeConnections({ custody, describe, test, expect }) {
  describe('a second connection', () => {
    test.each(fifty)('sees what was committed, and hears of it: %i', (amount) =>
      withDatabase(custody, async ({ client, connect }) => {
        const other = await connect()
        await other.query('LISTEN transfers')
        const heard = once(other, 'notification')
        const ann = await openAccount(client, 'ann', 100)
        const bob = await openAccount(client, 'bob', 0)

        await client.query('BEGIN')
        await client.query('UPDATE accounts SET balance = 1')
        expect(await balances(other)).toEqual({ ann: 100, bob: 0 })
        await client.query('ROLLBACK')
        await transfer(client, ann, bob, amount)
        await client.query("SELECT pg_notify('transfers', $1)", [String(amount)])

        expect((await heard)[0]).toMatchObject({ payload: String(amount) })
        expect(await balances(other)).toEqual({ ann: 100 - amount, bob: amount })
      }),
    )
  })
}
