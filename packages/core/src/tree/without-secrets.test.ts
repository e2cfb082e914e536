import { expect, test } from 'vitest'
import { withoutSecrets } from './without-secrets.js'

test.each<[string[], string[]]>([
  [
    ['x', '--password', 'hunter-two', '--user', 'joe'],
    ['x', '--password', '…', '--user', 'joe'],
  ],
  [
    ['x', '--token=ghp_AbCdEf', 'API_KEY=abc', '-v'],
    ['x', '--token=…', 'API_KEY=…', '-v'],
  ],
  [
    ['x', '--no-auth', '--port', '1'],
    ['x', '--no-auth', '--port', '1'],
  ],
  [
    ['x', '--secret=two words\nand a line', '--auth='],
    ['x', '--secret=…', '--auth='],
  ],
  [
    ['curl', '-H', 'Authorization: Bearer abc'],
    ['curl', '-H', 'Authorization:…'],
  ],
  [
    ['sh', '-c', `TOKEN=abc node a.js --password "two words" --port 1 & x --api-key=$KEY; y`],
    ['sh', '-c', 'TOKEN=… node a.js --password … --port 1 & x --api-key=…; y'],
  ],
  [
    ['node', '-e', 'const token = read(); use({ token: "abc", port: 1 })'],
    ['node', '-e', 'const token = read(); use({ token: …, port: 1 })'],
  ],
  [
    ['x', '{"user": "joe", "password": "abc"}'],
    ['x', '{"user": "joe", "password": …}'],
  ],
  [
    ['x', 'postgres://joe:abc@localhost:5432/db', 'http://localhost:80/'],
    ['x', 'postgres://joe:…@localhost:5432/db', 'http://localhost:80/'],
  ],
  [[], []],
])('shows %j without its secrets', (command, shown) => expect(withoutSecrets(command)).toEqual(shown))
