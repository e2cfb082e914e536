import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { type ExpectedReceipt, type Row, unproven } from '../row.js'

// The file, the process or the listener is another one a moment later.

const ours: ExpectedReceipt = {
  name: 'ours',
  verdict: 'owned',
  reason: /^it was born in this namespace and published this locator$/,
  evidence: { answer: 'authentic', isInScope: true, isPathEqual: true, isSeenAlive: true },
  exit: 'observed',
}

const theirs: ExpectedReceipt = {
  name: 'theirs',
  verdict: 'foreign',
  reason: /^it belongs to the namespace e{32}/,
  evidence: { answer: 'authentic', isInScope: false },
}

export const moments: readonly Row[] = [
  {
    title: 'a locator that a finalizer replaces by that of a stranger',
    // Its own runtime by what was captured, and the stranger by what lies there now.
    expected: [ours, theirs],
    async arrange(stage) {
      const [own, stranger] = await Promise.all([
        stage.startRuntime('ours', 'the test', { home: stage.found }),
        stage.startRuntime('theirs', 'another run'),
      ])
      return {
        restore: () => {
          rmSync(own.path)
          writeFileSync(own.path, JSON.stringify(stranger.locator), { mode: 0o600 })
        },
      }
    },
  },
  {
    title: 'a socket that a finalizer replaces by that of a stranger',
    expected: [
      {
        name: 'theirs',
        verdict: 'unproven',
        reason: /^what listens there does not know its token, and its process is alive$/,
        evidence: { answer: 'false', recorded: 'alive' },
      },
    ],
    failure: unproven,
    async arrange(stage) {
      const [runtime, stranger] = await Promise.all([
        stage.startRuntime('theirs', 'claimed', { home: stage.found }),
        stage.startRuntime('other', 'another run'),
      ])
      const [path, other] = [runtime, stranger].map(({ locator }) => locator.endpoint.slice('unix:'.length)) as [string, string]
      return { restore: () => renameSync(other, path) }
    },
  },
  {
    title: 'a runtime that is another one between the proof and the shutdown',
    // The first was killed: that it has gone is true, and was seen. The second has published at the same place.
    expected: [ours, theirs],
    async arrange(stage) {
      const own = await stage.startRuntime('ours', 'claimed', { home: stage.found })
      const endpoint = own.locator.endpoint.slice('unix:'.length)
      renameSync(endpoint, `${endpoint}.true`)
      let lines = 0
      // All passes unchanged, up to the line after hello and identify: the shutdown.
      const pass = (socket: Socket) => {
        const upstream = connect(`${endpoint}.true`)
        upstream.on('error', () => {}).on('data', (chunk) => socket.write(chunk))
        socket.on('data', async (chunk: Buffer) => {
          lines += chunk.toString('latin1').split('\n').length - 1
          if (lines < 3) return void upstream.write(chunk)
          own.program.child.kill('SIGKILL')
          await own.program.exited
          await stage.startRuntime('theirs', 'another run', { home: stage.found })
          socket.destroy()
        })
      }
      await stage.listen(pass, { at: endpoint, isOfRuntime: true })
    },
  },
  {
    title: 'a runtime that is retired twice at once',
    expected: [ours, ours],
    async arrange(stage) {
      const { path } = await stage.startRuntime('ours', 'claimed', { home: stage.found, env: { AWAITED: '2' } })
      return { retired: [path, path] }
    },
  },
]
