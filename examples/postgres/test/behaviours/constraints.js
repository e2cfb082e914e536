import { balances, openAccount } from '../bank.js'
import { withDatabase } from '../with-database.js'
import { fifty } from './fifty.js'

/** @param {{ custody: any, describe: any, test: any, expect: any }} runner */
export function describeConstraints({ custody, describe, test, expect }) {
  describe('the bank', () => {
    test.each(fifty)('refuses a second account of one owner, debts, and entries of nobody: %i', (number) =>
      withDatabase(custody, async ({ client }) => {
        await openAccount(client, 'ann', number)
        const entry = client.query('INSERT INTO entries (account, amount) VALUES ($1, 1)', [number + 1])

        await expect(entry).rejects.toMatchObject({ code: '23503' })
        await expect(openAccount(client, 'ann', number)).rejects.toMatchObject({ code: '23505' })
        await expect(openAccount(client, 'bob', -number)).rejects.toMatchObject({ code: '23514' })

        expect(await balances(client)).toEqual({ ann: number })
      }),
    )
  })
}
