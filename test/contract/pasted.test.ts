import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
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
