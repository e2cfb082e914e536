import { createServer as createHttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Evidence } from '@custody/core'
import { type Row, unproven, unreachable } from '../row.js'

// B43. The endpoint of a runtime belongs to another program by now, which answers whatever it answers.

interface Impostor {
  readonly title: string
  readonly answer: Evidence['answer']
  readonly treat?: (socket: Socket) => void
  readonly newServer?: () => Server
}

const say = (text: string | Buffer) => (socket: Socket) => void socket.write(text)

function drip(socket: Socket): void {
  socket.write('2')
  const timer = setInterval(() => socket.write('2'), 1_000)
  socket.on('close', () => clearInterval(timer))
}

const impostors: readonly Impostor[] = [
  {
    title: 'a web server that says 200 to all',
    answer: 'garbage',
    newServer: () => createHttpServer((_, response) => response.end('{}')),
  },
  {
    title: 'a server that says 200 to each line',
    answer: 'garbage',
    treat: (socket) => socket.on('data', () => say('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')(socket)),
  },
  { title: 'a server that hangs', answer: 'none', treat: () => {} },
  { title: 'a server that sends garbage', answer: 'garbage', treat: say('\u0000\u0001garbage\n') },
  { title: 'a server that sends a line of 10 MB', answer: 'garbage', treat: say(Buffer.alloc(10_000_000, 'x')) },
  { title: 'a server that speaks TLS', answer: 'closed', newServer: () => createTlsServer({}) },
  { title: 'a server that closes early', answer: 'closed', treat: (socket) => socket.end() },
  { title: 'a server that closes after half an answer', answer: 'closed', treat: (socket) => socket.end('{"jsonrpc":"2.0",') },
  { title: 'a server that sends one byte a second', answer: 'none', treat: drip },
  { title: 'a server that sends back what it hears', answer: 'garbage', treat: (socket) => void socket.pipe(socket) },
]

const atLiveOnes = impostors.map(({ answer, newServer, title, treat = () => {} }): Row => {
  const isGarbage = answer === 'garbage'
  return {
    title: `${title}, and a live process`,
    expected: [
      {
        name: 'forged',
        verdict: isGarbage ? 'unproven' : 'unreachable',
        reason: isGarbage
          ? /^what listens there does not know its token, and its process is alive$/
          : answer === 'closed'
            ? /^it closes every connection, and its process is alive$/
            : /^nobody answers there, and its process is alive$/,
        evidence: { answer, statement: null, recorded: 'alive', isSeenAlive: false, born: 'no' },
      },
    ],
    failure: isGarbage ? unproven : unreachable,
    async arrange(stage) {
      const { pid, start } = await stage.startStranger()
      stage.put({ pid, start, endpoint: await stage.listen(treat, { server: newServer?.() }) })
    },
  }
})

const atDeadOnes = impostors.map(
  ({ answer, newServer, title, treat = () => {} }): Row => ({
    title: `${title}, and a process that has ended`,
    // Who hangs up or hangs is not asked again when its process is seen to be gone.
    expected: [{ name: 'forged', verdict: 'gone', reason: /^its process has ended$/, evidence: { answer, recorded: 'gone' } }],
    async arrange(stage) {
      const { pid, start } = await stage.startGone()
      stage.put({ pid, start, endpoint: await stage.listen(treat, { server: newServer?.() }) })
    },
  }),
)

export const listeners: readonly Row[] = [...atLiveOnes, ...atDeadOnes]
