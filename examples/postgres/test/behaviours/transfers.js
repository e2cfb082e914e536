import { balances, countEntries, openAccount, transfer } from '../bank.js'
import { withDatabase } from '../with-database.js'
import { fifty } from './fifty.js'

/** @param {{ custody: any, describe: any, test: any, expect: any }} runner */
export function describeTransfers({ custody, describe, test, expect }) {
  describe('a transfer', () => {
    test.each(fifty)('of %i moves it, and one of more than there is moves nothing', (amount) =>
      withDatabase(custody, async ({ client }) => {
        const ann = await openAccount(client, 'ann', 60)
        const bob = await openAccount(client, 'bob', 0)

        await transfer(client, ann, bob, amount)
        await expect(transfer(client, ann, bob, 61)).rejects.toMatchObject({ code: '23514' })

        expect(await balances(client)).toEqual({ ann: 60 - amount, bob: amount })
        expect(await countEntries(client)).toBe(2)
      }),
    )
  })
}
