import { describe, expect, test } from 'vitest'
import { normalizeCommand, signatureOf } from './signature.js'

describe('a command line without what changes', () => {
  test.each<[string, string[], string[]]>([
    ['a path of the project', ['/usr/bin/node', '/home/me/app/server.js'], ['node', '<root>/server.js']],
    ['another path', ['node', '/tmp/cst-8f3aQ/x.js', '--log=/var/log/a'], ['node', '<path>', '--log=<path>']],
    ['a path of Windows', ['node', 'C:\\Users\\me\\x.js'], ['node', '<path>']],
    ['a port', ['node', 'server.js', '--port', '43117'], ['node', 'server.js', '--port', '<n>']],
    ['an address', ['curl', 'http://127.0.0.1:4312/x'], ['curl', 'http:<path>']],
    ['a hash', ['node', 'run.js', 'b7e23ec29af22b0b'], ['node', 'run.js', '<id>']],
    ['a UUID', ['x', '--id=5f0c6a1e-0b1d-4c1e-9a55-8c7f2d3e4b5a'], ['x', '--id=<id>']],
    ['words', ['node', 'server.js', '--watch', 'feedface'], ['node', 'server.js', '--watch', 'feedface']],
    ['the number of a worker', ['node', 'a.js', '--db=test_1'], ['node', 'a.js', '--db=test_<n>']],
    ['a made-up name', ['x', 'V1StGXR8_Z5jdHi6B-myT'], ['x', '<id>']],
    [
      'the value of a secret option',
      ['x', '--password', 'hunter-two', '--user', 'joe'],
      ['x', '--password', '<secret>', '--user', 'joe'],
    ],
    [
      'the value of a secret',
      ['x', '--token=ghp_AbCdEf', 'API_KEY=abc', '-v'],
      ['x', '--token=<secret>', 'API_KEY=<secret>', '-v'],
    ],
    ['a flag that only sounds so', ['x', '--no-auth', '--port', '1'], ['x', '--no-auth', '--port', '<n>']],
    ['nothing', [], ['']],
  ])('has %s replaced, or left', (_, command, normal) => expect(normalizeCommand(command, '/home/me/app')).toEqual(normal))

  test('is the same for two runs that differ in these', () => {
    const of = (root: string, port: string) => normalizeCommand([`${root}/bin/tool`, `${root}/a.js`, '-p', port], root)
    expect(of('/home/me/app', '4312')).toEqual(of('/ci/work/app', '39911'))
  })
})

test('a title has no path of this machine, and no made-up name', () => {
  const of = (title: string) => signatureOf({ project: '', file: 'a.test.js', test: title }, ['x'], '/home/me/app').test
  expect(of('works in /tmp/cst-8f3aQ and /home/me/app/a')).toBe('works in <path> and <root>/a')
  expect(of('case 12 of the 3rd kind')).toBe('case 12 of the 3rd kind')
})
