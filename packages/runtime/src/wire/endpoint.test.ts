import { expect, test } from 'vitest'
import { parseEndpoint } from './endpoint.js'

test('reads the forms of docs/protocol.md', () => {
  expect(parseEndpoint('unix:/run/a:b.sock')).toEqual({ kind: 'unix', path: '/run/a:b.sock' })
  expect(parseEndpoint('pipe:\\\\.\\pipe\\x')).toEqual({ kind: 'pipe', path: '\\\\.\\pipe\\x' })
  expect(parseEndpoint('tcp:127.0.0.1:1')).toEqual({ kind: 'tcp', host: '127.0.0.1', port: 1 })
  expect(parseEndpoint('tcp:[::1]:65535')).toEqual({ kind: 'tcp', host: '::1', port: 65_535 })
})

test.each([
  '',
  ':',
  'unix:',
  'unix:relative',
  'unix:\0abstract',
  'unix:/a\0b',
  '/run/a.sock',
  'pipe:/x',
  'tcp:',
  'tcp:80',
  'tcp:localhost:80',
  'tcp:0.0.0.0:80',
  'tcp:10.0.0.1:80',
  'tcp:127.0.0.1:0',
  'tcp:127.0.0.1:080',
  'tcp:127.0.0.1:65536',
  'tcp:127.0.0.1:80\n',
  'tcp:::1:80',
  'http://127.0.0.1',
  `unix:/${'x'.repeat(600)}`,
])('refuses %j', (text) => {
  expect(parseEndpoint(text)).toBeNull()
})
