import { readFileSync } from 'node:fs'
import { cli } from '../taskd.js'

/** @param {import('../suite.js').Bench} bench */
export function describeCommandLine({ custody, test, expect, taskd, locatorPath }) {
  test('wrong usage exits with 2 and names the help', async () => {
    const results = [
      ['frobnicate'],
      ['lease'],
      ['add'],
      ['list', 'much'],
      ['add', 'x', '--store', 'cloud'],
      ['add', 'x', '--ttl', '1'],
    ]
    for (const args of results) {
      const { exitCode, stderr } = await custody.exec(process.execPath, [cli, ...args], { reject: false })
      expect({ args, exitCode }).toEqual({ args, exitCode: 2 })
      expect(stderr).toContain('--help')
    }
  })

  test('the API refuses whoever cannot read the locator', async () => {
    await taskd('add', 'Private')
    const { details } = JSON.parse(readFileSync(locatorPath(), 'utf8'))
    for (const headers of [{}, { authorization: 'Bearer guess' }]) {
      const response = await fetch(`${details.url}/tasks`, { headers: { ...headers, connection: 'close' } })
      expect([response.status, (await response.json()).error.code]).toEqual([401, 'unauthorized'])
    }
  })
}
