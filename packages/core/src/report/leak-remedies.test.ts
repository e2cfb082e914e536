import { describe, expect, test } from 'vitest'
import { findAllowance } from '../tree/allowance.js'
import { remediesFor } from './leak-remedies.js'
import type { LeftRuntime } from './start-proposal.js'

const root = '/home/me/app'
const of = (...command: string[]): LeftRuntime => ({ command, cwd: root, listensOn: [], portVariable: null, below: [] })
const globsIn = (line: string): [string, ...string[]] =>
  JSON.parse(
    line
      .replace(/.*argv: (\[.*?\]), reason.*/s, '$1')
      .replace(/'((?:[^'\\]|\\.)*)'/g, (_, text: string) => JSON.stringify(text.replace(/\\(.)/g, '$1'))),
  )

describe('a start that is proposed', () => {
  const startOf = (left: Parameters<typeof remediesFor>[1]) => remediesFor('test', left, root)[0]
  const listening = (address: string, ...command: string[]) => ({ ...of(...command), listensOn: [address] })

  test('has the name of the script, or of the program', () => {
    expect(startOf(of('/usr/bin/node', 'dist/api-server.js'))).toContain(
      "const apiServer = await custody.start({ name: 'api-server', command: ['/usr/bin/node', 'dist/api-server.js'] })",
    )
    expect(startOf(of('redis-server', '*:0'))).toContain("const redisServer = await custody.start({ name: 'redis-server'")
  })

  test.each([
    [['node', '--require', '/x/setup.cjs', '-C', 'node', 'worker.js'], 'worker'],
    [['node', '/home/me/app/node_modules/.bin/vite', '--port', '1'], 'vite'],
    [['node', '/usr/lib/node_modules/npm/bin/npx-cli.js', '--yes', '@scope/tool@1.2.3', 'x'], 'tool'],
    [['npm', 'exec', 'vite', '--port', '1'], 'vite'],
    [['npm', 'run', 'dev'], 'dev'],
    [['npx', 'tsx', 'src/server.ts'], 'server'],
    [['pnpm', 'dlx', 'serve'], 'serve'],
    [['yarn', 'vite'], 'vite'],
    [['python3.12', '-m', 'http.server', '8000'], 'http.server'],
    [['python3', '-u', '/srv/app.py'], 'app'],
    [['node', '-e', 'setInterval(() => {}, 1e3)'], 'node'],
    [['/bin/sh', '-c', 'PORT=1 exec node server.js & wait'], 'server'],
    [['bash', 'scripts/serve.sh'], 'serve'],
    [['npx'], 'npx'],
  ])('is named by what an interpreter runs: %j', (command, name) => {
    expect(startOf(of(...command))).toContain(`custody.start({ name: '${name}',`)
  })

  test('has the files of the project by their ways from its directory, as the project stands elsewhere on another machine', () => {
    const command = ['node', `${root}/src/server.js`, '/srv/x.js']
    expect(startOf(of(...command))).toContain("command: ['node', 'src/server.js', '/srv/x.js']")
    expect(startOf({ ...of(...command), cwd: `${root}/packages/b` })).toContain(
      "command: ['node', '../../src/server.js', '/srv/x.js']",
    )
    const [, declaration = ''] = remediesFor('test', of(...command), root)
    expect(globsIn(declaration)).toEqual(['node', '**/src/server.js', '**'])
    expect(findAllowance(command, [{ argv: globsIn(declaration), reason: 'a test', until: 'run' }])).not.toBeNull()
  })

  test('has its directory where that is another, and waits for its socket', () => {
    expect(startOf({ ...of('node', 'a.js'), cwd: `${root}/packages/b` })).toContain("cwd: 'packages/b'")
    expect(startOf(listening('/tmp/a.sock', 'node', 'a.js'))).toContain("ready: { socket: '/tmp/a.sock' }")
    expect(startOf(listening('@name', 'node', 'a.js'))).not.toContain('ready')
  })

  const byPort = "ports: ['http'], ready: { port: 'http' } })"

  test.each([
    [['vite', '--port', '5199'], "['vite', '--port', String(ports.http)]"],
    [['vite', '--port=5199', '-x'], "['vite', `--port=<port>`, '-x']"],
    [['serve', '-l', 'tcp://[::1]:5199'], "['serve', '-l', `tcp://[::1]:<port>`]"],
    [['sh', '-c', 'echo `x` $' + '{y} $z; vite -p 5199'], "['sh', '-c', `echo \\`x\\` \\$" + '{y} $z; vite -p <port>`]'],
  ])('puts the reserved port where the command has its own: %j', (command, list) => {
    const line = startOf(listening('127.0.0.1:5199', ...command))
    expect(line).toContain(`command: ({ ports }) => ${list.replace('<port>', '$' + '{ports.http}')}, `)
    expect(line).toMatch(/ready: \{ port: 'http' \} \}\)$/)
    expect(line).toContain(byPort)
  })

  test('asks at its address where nothing tells how it takes its port', () => {
    expect(startOf(listening('0.0.0.0:5199', 'vite', '--port', '15199'))).toContain(
      "command: ['vite', '--port', '15199'], ready: { http: 'http://127.0.0.1:5199/' } })",
    )
    expect(startOf(listening('[::1]:5173', 'vite'))).toContain("ready: { http: 'http://[::1]:5173/' }")
    expect(startOf(listening('[::]:5173', 'vite'))).toContain("ready: { http: 'http://localhost:5173/' }")
    expect(startOf(listening('port 5173', 'vite'))).toContain("ready: { http: 'http://localhost:5173/' }")
  })

  test('reserves a port where it was in the variable, and where the system has chosen it', () => {
    expect(startOf({ ...listening('127.0.0.1:4000', 'node', 'a.js'), portVariable: '4000' })).toMatch(/'http' \} \}\)$/)
    expect(startOf(listening('127.0.0.1:40001', 'node', 'a.js'))).toContain(`${byPort}   // it is to listen on process.env.PORT`)
  })

  test('looks at who listens below it', () => {
    const vite = listening('[::1]:5199', 'node', '/x/node_modules/.bin/vite', '--port', '5199')
    expect(startOf({ ...of('npm', 'exec', 'vite', '--port', '5199'), below: [of('sh', '-c', 'vite'), vite] })).toContain(
      `const vite = await custody.start({ name: 'vite', command: ({ ports }) => ['npx', 'vite', '--port', String(ports.http)], ${byPort}`,
    )
    expect(startOf({ ...of('npm', 'run', 'dev', '--silent'), below: [vite] })).toContain(
      "command: ['npm', 'run', 'dev', '--', '--silent'], ready: { http: 'http://[::1]:5199/' }",
    )
    expect(startOf({ ...of('sh', '-c', 'cd x && ./serve'), below: [vite] })).toContain("name: 'vite'")
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
    [['node', 'x.js', '--password', 'hunter2']],
    [['sh', '-c', 'TOKEN=hunter2 x --password "hunter2 (two)" *']],
    [['x', '-v', '--token=hunter2', '--password', 'hunter2', '[x]']],
    [['x', '-u', 'postgres://joe:hunter2@localhost/db']],
    [['sh', '-c', `TOKEN=hunter2 ${'x*[({'.repeat(60)} and more`]],
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
    [
      ['npm', 'exec', 'vite'],
      ['npm', 'exec', 'other'],
    ],
  ])('of %j does not fit %j', (command, other) => expect(findAllowance(other, [allowanceOf(command)])).toBe(null))

  test('leaves nothing alive after the run, whether it listens or not', () => {
    expect(remediesFor('test', { ...of('node', 'a.js'), listensOn: ['127.0.0.1:1'] }, root)[1]).toContain("until: 'run'")
    expect(remediesFor('test', of('node', 'a.js'), root)[1]).toContain("until: 'run'")
  })
})

test('nothing that is proposed shows a secret, and another secret is no other process', () => {
  const of2 = (secret: string) => of('x', '-v', `--token=${secret}`, '--password', secret, '--to', `ftp://me:${secret}@host/`)
  const lines = remediesFor('test', of2('hunter2'), root)
  expect(lines.join('\n')).not.toContain('hunter2')
  expect(lines[0]).toContain("'--token=…', '--password', '…', '--to', 'ftp://me:…@host/'")
  expect(lines[1]).toContain("argv: ['x', '-v', '--token=*', '--password', '*', '--to', 'ftp://me:*@host/']")
  const argv = globsIn(lines[1] ?? '')
  expect(findAllowance(of2('other/one').command, [{ argv, reason: 'x', until: 'run' }])).not.toBe(null)
  expect(findAllowance(['y', ...of2('hunter2').command.slice(1)], [{ argv, reason: 'x', until: 'run' }])).toBe(null)
})

test('a global setup cannot start with custody', () => {
  expect(remediesFor('setup', of('node', 'a.js'), root)[0]).toBe(
    '  end it in the teardown of that setup, or have it be one of the option `runtimes`',
  )
})
