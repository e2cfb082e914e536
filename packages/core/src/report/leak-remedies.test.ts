import { describe, expect, test } from 'vitest'
import { findAllowance } from '../tree/allowance.js'
import { remediesFor } from './leak-remedies.js'

const root = '/home/me/app'
const of = (...command: string[]) => ({ command, cwd: root, listensOn: [] as string[] })
const globsIn = (line: string): [string, ...string[]] =>
  JSON.parse(
    line
      .replace(/.*argv: (\[.*?\]), reason.*/s, '$1')
      .replace(/'((?:[^'\\]|\\.)*)'/g, (_, text: string) => JSON.stringify(text.replace(/\\(.)/g, '$1'))),
  )

describe('a start that is proposed', () => {
  const startOf = (left: Parameters<typeof remediesFor>[1]) => remediesFor('test', left, root)[0]

  test('has the name of the script, or of the program', () => {
    expect(startOf(of('/usr/bin/node', 'dist/api-server.js'))).toContain(
      "const apiServer = await custody.start({ name: 'api-server', command: ['/usr/bin/node', 'dist/api-server.js'] })",
    )
    expect(startOf(of('redis-server', '*:0'))).toContain("const redisServer = await custody.start({ name: 'redis-server'")
    expect(startOf(of('node', '--require', '/x/setup.cjs', '-C', 'node', 'worker.js'))).toContain("name: 'worker'")
  })

  test('has its directory where that is another, and waits for what it listens on', () => {
    expect(startOf({ ...of('node', 'a.js'), cwd: `${root}/packages/b` })).toContain("cwd: 'packages/b'")
    expect(startOf({ ...of('node', 'a.js'), listensOn: ['127.0.0.1:1'] })).toContain("ports: ['http'], ready: { port: 'http' }")
    expect(startOf({ ...of('node', 'a.js'), listensOn: ['/tmp/a.sock'] })).toContain("ready: { socket: '/tmp/a.sock' }")
  })

  test('leaves out a command that is too long', () => {
    expect(startOf(of('node', 'a.js', ...Array<string>(20).fill('x')))).toContain('command: […]')
    expect(startOf(of('sh', '-c', 'x'.repeat(300)))).toContain('command: […]')
  })
})

describe('a declaration that is proposed', () => {
  const allowanceOf = (command: string[]) => {
    const [, line = ''] = remediesFor('test', of(...command), root)
    return { argv: globsIn(line), reason: 'x', until: 'run' as const }
  }

  test.each([
    [['node', 'server.js', '--port', '1']],
    [['/usr/bin/node', '--require', '/x/setup.cjs', '--conditions', 'node', 'worker.js']],
    [['sh', '-c', 'sleep 300 & wait; echo "it\'s {a,b} [c] (d)"']],
    [['sh', '-c', `${'x*[({'.repeat(60)} and more`]],
    [['node', '-e', 'setInterval(() => {}, 1e3)']],
    [['tail', '-f', '/dev/null']],
    [['daemon']],
  ])('fits what was left: %j', (command) => expect(findAllowance(command, [allowanceOf(command)])).not.toBe(null))

  test.each([
    [
      ['node', 'server.js'],
      ['node', 'other.js'],
    ],
    [
      ['sh', '-c', 'sleep 300'],
      ['sh', '-c', 'rm -rf x'],
    ],
    [
      ['node', '-e', 'a()'],
      ['node', '-e', 'b()'],
    ],
    [
      ['tail', '-f', '/dev/null'],
      ['tail', '-f', '/var/log/x'],
    ],
    [
      ['node', '--require', '/x/setup.cjs', 'a.js'],
      ['node', '--require', '/x/setup.cjs', 'b.js'],
    ],
  ])('of %j does not fit %j', (command, other) => expect(findAllowance(other, [allowanceOf(command)])).toBe(null))

  test('leaves nothing alive after the run, whether it listens or not', () => {
    expect(remediesFor('test', { ...of('node', 'a.js'), listensOn: ['127.0.0.1:1'] }, root)[1]).toContain("until: 'run'")
    expect(remediesFor('test', of('node', 'a.js'), root)[1]).toContain("until: 'run'")
  })
})

test('a global setup cannot start with custody', () => {
  expect(remediesFor('setup', of('node', 'a.js'), root)[0]).toBe(
    '  end it in the teardown of that setup, or have it be one of the option `runtimes`',
  )
})
