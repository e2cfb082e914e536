import { appendFileSync, chmodSync, existsSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sampleLocator } from '../../../../../test/runtime/sample-locator.js'
import { startProgram } from '../../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../../test/runtime/temporary-directory.js'
import type { Ready } from '../../options/start-spec.js'
import { LogFile } from '../log-file.js'
import { LOOPBACK } from './connect.js'
import { describeReady, probeOf } from './index.js'
import { matches } from './log.js'
import type { ProbeContext } from './probe.js'

interface Probing {
  readonly directory: string
  readonly log: LogFile
  readonly matched: RegExpMatchArray[]
  readonly notes: string[]
  /** Resolves with whether it held. */
  readonly held: Promise<boolean>
  /** Resolves when something was noted that matches. */
  noted(pattern: RegExp): Promise<void>
  /** Aborts it. */
  stop(): void
}

/** Starts a probe. It has been stopped when the test has finished. */
function probe(ready: Ready, changes: Partial<ProbeContext> = {}): Probing {
  const directory = temporaryDirectory()
  const [stdout, stderr] = [new LogFile(join(directory, 'out')), new LogFile(join(directory, 'err'))]
  writeFileSync(stdout.path, '')
  writeFileSync(stderr.path, '')
  const over = new AbortController()
  const notes: string[] = []
  const matched: RegExpMatchArray[] = []
  let look = () => {}
  const held = probeOf(ready)({
    ...{
      ports: {},
      url: null,
      hosts: LOOPBACK,
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '' },
      logs: { stdout, stderr },
    },
    ...{
      ownsPort: () => true,
      owns: () => true,
      signal: over.signal,
      ended: new AbortController().signal,
      matched: (match) => void matched.push(match),
      answered: () => {},
    },
    note: (text) => {
      notes.push(text)
      look()
    },
    ...changes,
  })
  const stop = () => over.abort()
  onTestFinished(async () => {
    stop()
    await held
  })
  const noted = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (notes.some((note) => pattern.test(note))) resolve()
      }
      look()
    })
  return { directory, log: stdout, matched, notes, held, noted, stop }
}

/** Has a server listen until the test has finished, and gives its port. */
async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return (server.address() as AddressInfo).port
}

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const http = (answer: RequestListener) => createHttpServer(answer)

test('log: holds as soon as the output matches, and gives the match', async () => {
  const { held, log, matched } = probe({ log: /listening on (?<http>\d+)/ })
  appendFileSync(log.path, 'starting\n')
  appendFileSync(log.path, 'listening on 4711\n')
  expect(await held).toBe(true)
  expect(matched.map(({ groups }) => groups?.['http'])).toEqual(['4711'])
})

test('log: sees what was written before it began', async () => {
  const { held } = probe({ log: 'ready' }, { logs: logsOf('ready\n') })
  expect(await held).toBe(true)
})

function logsOf(text: string): ProbeContext['logs'] {
  const log = new LogFile(join(temporaryDirectory(), 'out'))
  writeFileSync(log.path, text)
  return { stdout: log, stderr: log }
}

test('log: takes a text to the letter', async () => {
  const { held, log, matched } = probe({ log: 'up (1.2) [x]+$' })
  appendFileSync(log.path, 'up 1x2 x\nup (1.2) [x]+$\n')
  expect(await held).toBe(true)
  expect(matched.map(([text]) => text)).toEqual(['up (1.2) [x]+$'])
})

test('log: waits for as many matches as asked, and gives each', async () => {
  const { held, log, matched } = probe({ log: /worker \d/g, count: 3 })
  appendFileSync(log.path, 'worker 1 worker 2\n')
  appendFileSync(log.path, 'worker 3\n')
  expect(await held).toBe(true)
  expect(matched.map(([text]) => text)).toEqual(['worker 1', 'worker 2', 'worker 3'])
})

test('log: sees a prompt, which does not end its line', async () => {
  const { held, log } = probe({ log: /password: $/ })
  appendFileSync(log.path, 'password: ')
  expect(await held).toBe(true)
})

test('log: puts a line together that comes in pieces', async () => {
  const log = logsOf('').stdout
  const found = matches(log, /ready (\d+)\n/, AbortSignal.timeout(20_000))
  const next = found.next()
  for (const piece of ['rea', 'dy 47', '11', '\n']) {
    appendFileSync(log.path, piece)
    await log.changed(AbortSignal.timeout(0), log.size)
  }
  expect((await next).value?.[1]).toBe('4711')
})

test('log: reads a number whole that stands where a look ends', async () => {
  // A look takes 64 KiB: it would see "port 47".
  const { held, matched } = probe({ log: /port (\d+)/ }, { logs: logsOf(`${'x'.repeat(65_536 - 8)}\nport 4711\n`) })
  expect(await held).toBe(true)
  expect(matched.map(([, port]) => port)).toEqual(['4711'])
})

test('log: sees what stands in a line without end', async () => {
  const { held } = probe({ log: 'ready' }, { logs: logsOf(`${'x'.repeat(200_000)}ready${'x'.repeat(200_000)}`) })
  expect(await held).toBe(true)
})

test('log: gives no match twice', async () => {
  const { stdout } = logsOf('ready\n')
  const over = new AbortController()
  const seen: string[] = []
  for await (const [text] of matches(stdout, /ready|more|end/, over.signal)) {
    seen.push(text)
    if (text === 'ready') appendFileSync(stdout.path, 'more, and the ')
    if (text === 'more') appendFileSync(stdout.path, 'end')
    if (text === 'end') over.abort()
  }
  expect(seen).toEqual(['ready', 'more', 'end'])
})

test('log: looks from a byte on', async () => {
  const found = matches(logsOf('ready 1\nready 2\n').stdout, /ready \d/, AbortSignal.timeout(20_000), { since: 8 })
  expect((await found.next()).value?.[0]).toBe('ready 2')
})

test('log: looks at the stream that it is told', async () => {
  const logs = { stdout: logsOf('ready\n').stdout, stderr: logsOf('').stderr }
  const { held, noted, stop } = probe({ log: 'ready', stream: 'stderr' }, { logs })
  stop()
  await noted(/no output yet/)
  expect(await held).toBe(false)
})

test.each([
  ['', 'no output yet; a program may hold it back when it does not write to a terminal'],
  ['nothing\n', 'no match of /ready/ in its output'],
])('log: says of the output %j what was seen', async (text, note) => {
  const { held, notes, stop } = probe({ log: /ready/ }, { logs: logsOf(text) })
  stop()
  expect(await held).toBe(false)
  expect(notes).toEqual([note])
})

test('log: gives up a pattern that backtracks without end', async () => {
  const log = logsOf(`${'a'.repeat(60)}b\n`).stdout
  const hostile = matches(log, /^(a+)+$/, new AbortController().signal)
  await expect(hostile.next()).rejects.toMatchObject({
    code: 'CUSTODY_LOG_TIMEOUT',
    message: expect.stringContaining('Could not look for /^(a+)+$/ in 62 characters of output: that took more than 1000 ms.'),
  })
})

// B65
test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('port: holds when the runtime accepts connections on %s', async (host) => {
  const port = await freePort()
  const { held, noted } = probe({ port: 'http' }, { ports: { http: port } })
  await noted(new RegExp(`^127\\.0\\.0\\.1:${port} ECONNREFUSED, ::1:${port} ECONNREFUSED$`))
  await listen(createServer(), host, port)
  expect(await held).toBe(true)
})

test('port: does not take the port of another process for its own', async () => {
  const port = await listen(createServer())
  let isOwn = false
  const { held, noted } = probe({ port: 'http' }, { ports: { http: port }, ownsPort: () => isOwn })
  await noted(new RegExp(`^another process listens on port ${port}$`))
  isOwn = true
  expect(await held).toBe(true)
})

test('port: takes who accepts for its own where the platform does not tell', async () => {
  const port = await listen(createServer())
  expect(await probe({ port: 'http' }, { ports: { http: port }, ownsPort: () => null }).held).toBe(true)
})

test('port: stops while it waits for a server that does not accept', async () => {
  const server = startProgram('listening-without-accepting.js')
  const port = Number((await server.printed(/listens on (\d+)/))[1])
  // Two are queued; who comes after them waits.
  const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  const { held, stop } = probe({ port: 'http' }, { ports: { http: port } })
  stop()
  expect(await held).toBe(false)
})

test('http: holds when its path answers, on either address', async () => {
  const seen: string[] = []
  const server = http(({ url = '' }, response) => {
    seen.push(url)
    response.end()
  })
  const port = await listen(server, '::1')
  const { held } = probe({ http: '/health?x=1' }, { ports: { http: port }, url: `http://127.0.0.1:${port}` })
  expect(await held).toBe(true)
  expect(seen).toEqual(['/health?x=1'])
})

// B68
test('port: holds for a proxy that hangs up, and http and exec wait for the server behind it', async () => {
  const behind = join(temporaryDirectory(), 'server.sock')
  const port = await listen(
    createServer((socket) => {
      const server = connect(behind)
      server.on('error', () => socket.resetAndDestroy())
      socket.on('error', () => server.destroy())
      socket.pipe(server).pipe(socket)
    }),
  )
  const context = { ports: { http: port }, url: `http://127.0.0.1:${port}` }
  expect(await probe({ port: 'http' }, context).held).toBe(true)
  // Not fetch, which now and then never settles when its connection is reset at once.
  const check = `require('node:http').get('http://127.0.0.1:${port}', () => process.exit(0)).on('error', () => process.exit(1))`
  const byHttp = probe({ http: '/' }, context)
  const byExec = probe({ exec: [process.execPath, '-e', check] }, context)
  await byHttp.noted(/ECONNRESET/)
  await byExec.noted(/ended with code 1/)
  const server = http((_, response) => response.end())
  await new Promise<void>((resolve) => server.listen(behind, resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  expect(await Promise.all([byHttp.held, byExec.held])).toEqual([true, true])
})

test('http: takes 2xx and 3xx, and waits while it answers otherwise', async () => {
  const answers = [503, 404, 302]
  const server = http((_, response) => {
    response.statusCode = answers.shift() ?? 500
    response.end()
  })
  const port = await listen(server)
  const { held, notes } = probe({ http: '/' }, { url: `http://127.0.0.1:${port}` })
  expect(await held).toBe(true)
  expect(notes[0]).toBe(`http://127.0.0.1:${port}/ 503, http://[::1]:${port}/ ECONNREFUSED`)
  expect(answers).toEqual([])
})

test.each([[401], [[200, 401]]])('http: takes the status %j where it is asked for', async (status) => {
  const port = await listen(
    http((_, response) => {
      response.statusCode = 401
      response.end()
    }),
  )
  expect(await probe({ http: { url: `http://127.0.0.1:${port}/`, status } }).held).toBe(true)
})

test('http: does not take the answer of another process for that of the runtime', async () => {
  const port = await listen(http((_, response) => response.end()))
  const { held, noted, stop } = probe({ http: '/' }, { url: `http://127.0.0.1:${port}`, ownsPort: () => false })
  await noted(/another process listens/)
  stop()
  expect(await held).toBe(false)
})

test('http: stops while it waits for a server that never answers, and says so', async () => {
  const server = http(() => {})
  const asked = new Promise<void>((resolve) => server.once('request', () => resolve()))
  const port = await listen(server)
  const { held, notes, stop } = probe({ http: { url: `http://127.0.0.1:${port}/` } })
  await asked
  stop()
  expect(await held).toBe(false)
  expect(notes.at(-1)).toBe(`http://127.0.0.1:${port}/ no answer`)
})

test('http: does not wait for the end of an answer that has none, and hangs up', async () => {
  const server = http((_, response) => void response.writeHead(200).write('event: x\n'))
  const closed = new Promise<void>((resolve) => {
    server.once('connection', (socket: Socket) => socket.once('close', () => resolve()))
  })
  const port = await listen(server)
  expect(await probe({ http: { url: `http://127.0.0.1:${port}/` } }).held).toBe(true)
  await closed
})

test('http: says of another protocol that it is none', async () => {
  const { noted } = probe({ http: 'ftp://127.0.0.1/' })
  await noted(/^ftp:\/\/127\.0\.0\.1\/ is not http$/)
})

test('file: holds when the file is there', async () => {
  const { directory, held, noted } = probe({ file: 'pid' })
  await noted(new RegExp(`^${join(directory, 'pid')} is not there$`))
  writeFileSync(join(directory, 'pid'), '')
  expect(await held).toBe(true)
})

test('socket: holds when it accepts connections, and not before', async () => {
  const { directory, held, noted } = probe({ socket: 's' })
  const path = join(directory, 's')
  await noted(new RegExp(`^${path} ENOENT$`))
  writeFileSync(path, '')
  await noted(new RegExp(`^${path} ECONNREFUSED$`))
  unlinkSync(path)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  expect(await held).toBe(true)
  await new Promise((resolve) => server.close(resolve))
})

test("exec: holds when its command exits with 0, in the runtime's directory and environment", async () => {
  const { directory, held, noted } = probe(
    { exec: ['sh', '-c', 'test "$A" = 1 && test -e there'] },
    { env: { PATH: process.env['PATH'] ?? '', A: '1' } },
  )
  await noted(/^sh -c .* ended with code 1$/)
  writeFileSync(join(directory, 'there'), '')
  expect(await held).toBe(true)
})

test('exec: says of a command that there is none, and tries again', async () => {
  const { directory, held, noted } = probe({ exec: ['./check'] })
  await noted(/^\.\/check: spawn \.\/check ENOENT$/)
  writeFileSync(join(directory, 'check.new'), '#!/bin/sh\nexit 0\n')
  chmodSync(join(directory, 'check.new'), 0o700)
  renameSync(join(directory, 'check.new'), join(directory, 'check'))
  expect(await held).toBe(true)
})

test('exec: says which signal has ended it', async () => {
  const { noted } = probe({ exec: ['sh', '-c', 'kill -9 $$'] })
  await noted(/^sh -c kill -9 \$\$ ended with SIGKILL$/)
})

test('exec: does not wait for a helper that holds its output', async () => {
  // The helper goes when its directory does.
  const { directory, held } = probe({ exec: ['sh', '-c', 'while test -d "$PWD"; do sleep 0.05; done &'] })
  expect(await held).toBe(true)
  expect(existsSync(directory)).toBe(true)
})

test('locator: holds when its process proves to know the token and was born of the runtime', async () => {
  const asked: number[] = []
  let isOwn = false
  const owns = (pid: number) => {
    asked.push(pid)
    return isOwn
  }
  const { directory, held, noted } = probe({ locator: 'locator.json' }, { owns })
  const path = join(directory, 'locator.json')
  await noted(/there is no such file/)
  const program = startProgram('serving.js', { args: [path], env: { XDG_RUNTIME_DIR: directory } })
  await noted(new RegExp(`^${path} belongs to pid ${program.pid}, which is not of this runtime$`))
  isOwn = true
  expect(await held).toBe(true)
  expect(new Set(asked)).toEqual(new Set([program.pid]))
  program.child.kill('SIGKILL')
  await program.exited
})

test('locator: does not take a file for a runtime', async () => {
  const { directory, noted } = probe({ locator: 'locator.json' }, { owns: () => true })
  writeFileSync(join(directory, 'locator.json'), JSON.stringify(sampleLocator()), { mode: 0o600 })
  await noted(/^Could not reach runtime "sample"/)
})

test.each<[Ready, string]>([
  [{ log: /a b/ }, 'log /a b/'],
  [{ log: 'a' }, 'log "a"'],
  [{ port: 'http' }, 'port "http"'],
  [{ http: { url: '/', status: 200 } }, 'http {"url":"/","status":200}'],
  [{ exec: ['pg_isready', '-q'] }, 'exec ["pg_isready","-q"]'],
])('says %j in a few words', (ready, words) => expect(describeReady(ready)).toBe(words))
