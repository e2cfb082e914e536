import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectRuntime, readLocator } from '@custody/runtime'
import { borrowLocator, ways } from './borrow.js'

const start = fileURLToPath(new URL('../src/start.js', import.meta.url))

/**
 * Namespace B holds a valid locator of A's daemon: the pid in it is right, and so is the token. It is still somebody else's process.
 * @param {{ custody: any, describe: any, test: any, expect: any }} runner
 */
export function describeTwoNamespaces({ custody, describe, test, expect }) {
  describe.each(ways)('a test that holds $how of another namespace’s locator', (way) => {
    test('cannot end the other’s daemon', async () => {
      const [a, b] = [custody.openNamespace('a'), custody.openNamespace('b')]
      await a.exec(process.execPath, [start])
      const original = join(a.home, '.greeter', 'daemon.json')
      const locator = readLocator(original)
      const before = await greet(locator)
      expect(before).toEqual({ hello: 'world', pid: locator.pid })
      const borrowed = borrowLocator(way, original, b.home)

      await expect(b.inspect(borrowed)).resolves.toMatchObject({ verdict: way.verdict })
      await expect(b.retire(borrowed)).rejects.toMatchObject({ code: 'CUSTODY_NOT_OWNED' })
      await expect(
        stopGuarded(locator, { locator: borrowed, instance: locator.instance, namespace: b.id }),
      ).rejects.toMatchObject({
        code: 'CUSTODY_NOT_OWNER',
      })

      const receiptsOfB = await b.close()
      expect(receiptsOfB.map(({ exit, verdict }) => ({ exit, verdict }))).toEqual([
        { exit: 'not observed', verdict: way.verdict },
      ])
      await expect(greet(locator)).resolves.toEqual(before)

      if (way.keepsOriginal) await expect(a.retire(original)).resolves.toMatchObject({ verdict: 'owned', exit: 'observed' })
      // Its file has moved. The registry still has what it published.
      else await expect(a.close()).resolves.toMatchObject([{ verdict: 'owned', exit: 'observed' }])
      await expect(greet(locator)).rejects.toThrow()
    })
  })
}

async function greet({ details }) {
  return (await fetch(details.url)).json()
}

/** What a clean-up that trusts the file would send; the runtime itself compares, and refuses. */
async function stopGuarded(locator, expect) {
  const client = await connectRuntime(locator)
  try {
    return await client.shutdown({ expect })
  } finally {
    client.close()
  }
}
