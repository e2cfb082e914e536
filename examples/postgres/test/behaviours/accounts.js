import { balances, openAccount } from '../bank.js'
import { withDatabase } from '../with-database.js'
import { fifty } from './fifty.js'

/** @param {{ custody: any, describe: any, test: any, expect: any }} runner */
export function describeAccounts({ custody, describe, test, expect }) {
  describe('a database from the template', () => {
    test.each(fifty)('has the accounts that its own test has opened: %i', (count) =>
      withDatabase(custody, async ({ client }) => {
        expect(await balances(client)).toEqual({})
        const owners = Array.from({ length: count }, (_, at) => `owner-${at}`)
        const ids = []
        for (const owner of owners) ids.push(await openAccount(client, owner, count))

        // Numbered from 1 on, whatever other tests have opened.
        expect(ids).toEqual(owners.map((_, at) => at + 1))
        expect(await balances(client)).toEqual(Object.fromEntries(owners.map((owner) => [owner, count])))
      }),
    )
  })
}
