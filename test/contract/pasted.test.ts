import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { CustodyOptions } from '@custody/core'
import { describe, expect, test } from 'vitest'
import { runners, runSuite } from './run-suite.js'

/** A server that takes its port from its arguments, or always has the same one; npx finds it by its name. */
const extras = (port: number) => ({
  'server.mjs': `
    import { createServer } from 'node:http'
    const at = process.argv.indexOf('--port')
    createServer((_, response) => response.end('is here')).listen(at < 0 ? ${port} : Number(process.argv[at + 1]), '127.0.0.1')`,
  'node_modules/.bin/served': '#!/bin/sh\nexec node server.mjs "$@"\n',
})

const answers = (url: string) => `
  for (;;) {
    const text = await fetch(${url}).then((response) => response.text(), () => '')
    if (text === 'is here') break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }`

const makeProgram = `fs.chmodSync('node_modules/.bin/served', 0o755)`

const leaving = ([file, ...args]: readonly string[], port: number) => `
  ${makeProgram}
  test('leaves a server', async () => {
    spawn(${JSON.stringify(file)}, ${JSON.stringify(args)}, { stdio: 'ignore' })
    ${answers(`'http://127.0.0.1:${port}/'`)}
  })`

/** Below those that systems choose: a port of a program's own. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 20_000)
    const server = createServer()
    server.listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree) return port
  }
}

const options: CustodyOptions = { timeouts: { exitMs: 200 } }

describe.each(runners)('what the message of a leak proposes in %s', (runner) => {
  test.each([
    ['node with a port', ['node', 'server.mjs', '--port', 'PORT'], "name: 'server', command: ({ ports }) => ["],
    ['npx with a port', ['npx', 'served', '--port', 'PORT'], "name: 'served', command: ({ ports }) => ['npx', "],
    ['a shell', ['sh', '-c', 'node server.mjs & wait'], "name: 'server', command: ['sh', "],
  ])('starts the same server when it is pasted: %s', async (_, command, start) => {
    const port = await freePort()
    const words = command.map((word) => (word === 'PORT' ? String(port) : word))
    const red = await runSuite(runner, { options, extras: extras(port), files: { leaving: leaving(words, port) } })
    const { messages } = red.test('leaves a server')
    const [, line = '', name = ''] = /start it with: {2}(const (\w+) = await .*)/.exec(messages) ?? []
    expect(line, red.output).toContain(start)

    const url = line.includes('ports') ? `${name}.url` : `'http://127.0.0.1:${port}/'`
    const pasted = `${makeProgram}\ntest('has it', async () => { ${line}\n${answers(url)} })`
    const green = await runSuite(runner, { options, extras: extras(port), files: { pasted } })
    expect(green.exitCode, green.output).toBe(0)
    expect(green.receiptsOf(name)).toHaveLength(1)
  })
})

const secret = `
  test('leaves one that knows a secret', () => {
    const stay = 'setInterval(() => {}, 1e3)'
    spawn('node', ['-e', stay, '--', '--token=hunter2', '--password', 'hunter2'], { stdio: 'ignore' })
    spawn('sh', ['-c', 'TOKEN=hunter2 sleep 300 & wait'], { stdio: 'ignore' })
  })
  test('starts what there is not', async () => {
    const command = ['no-such-program', '--token=hunter2', '--password', 'hunter2']
    await custody.start({ name: 'none', command })
  })
  test('runs what there is not', () => custody.exec('no-such-program', ['--token=hunter2', '--password', 'hunter2']))`

describe.each(runners)('secrets in a command line, in %s', (runner) => {
  test('are shown nowhere, and what is declared as the message proposes it fits', async () => {
    const red = await runSuite(runner, { options, files: { secret } })
    const { messages } = red.test('leaves one that knows a secret')
    expect(red.exitCode, red.output).toBe(1)
    const report = readFileSync(join(red.directory, 'custody.json'), 'utf8')
    // The source of a test is shown where it fails.
    const told = [...red.tests.map((each) => each.messages), report].join('\n')
    expect(told).not.toContain('hunter2')
    expect(red.output.split('\n').filter((line) => /hunter2/.test(line) && !/^\s*(?:[>|\d❯]|\|)/.test(line))).toEqual([])
    expect(messages).toContain('--token=… --password …')

    const declared = [...red.output.matchAll(/or declare it: {2}allow: \[(\{.*\})\]/g)].map(([, text]) => text)
    const allow = Function(`return [${[...new Set(declared)].join(', ')}]`)() as NonNullable<CustodyOptions['allow']>
    expect(allow, red.output).toHaveLength(2)
    const green = await runSuite(runner, { options: { ...options, allow }, files: { secret } })
    expect(green.test('leaves one that knows a secret').status, green.output).toBe('passed')
    expect(green.output).toContain('allowed: pid')
    expect(readFileSync(join(green.directory, 'custody.json'), 'utf8')).not.toContain('hunter2')
  })
})
