import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { holdLifeline } from './lifeline.js'
import { type Answer, METHOD_NOT_FOUND, type Peer, ProtocolServer } from './protocol-server.js'
import { listen } from './socket.js'

/** The directory of a run whose supervisor answers like this, and whoever attaches to it. */
async function startRun(answer: Answer): Promise<{ run: string; protocol: ProtocolServer; attached: Promise<Peer> }> {
  const run = temporaryDirectory()
  mkdirSync(join(run, 's'), { mode: 0o700 })
  const path = join(run, 's', 'a.sock')
  const locator = sampleLocator({ endpoint: `unix:${path}` })
  let attach: (peer: Peer) => void = () => {}
  const attached = new Promise<Peer>((resolve) => {
    attach = resolve
  })
  const protocol = new ProtocolServer(Buffer.from(locator.token, 'hex'), locator.endpoint, (method, params, peer) => {
    attach(peer)
    return answer(method, params, peer)
  })
  await listen(protocol.server, path)
  onTestFinished(() => protocol.close())
  writeFileSync(join(run, 'supervisor.json'), JSON.stringify(locator), { mode: 0o600 })
  return { run, protocol, attached }
}

test('hears that the supervisor has gone', async () => {
  const { run, protocol } = await startRun(async () => null)
  let tell = () => {}
  const broken = new Promise<void>((resolve) => {
    tell = resolve
  })
  await holdLifeline(run, tell)
  protocol.close()
  await broken
})

test('holds no connection with a supervisor that does not want it, and does without', async () => {
  const { run, attached } = await startRun(async () => {
    throw METHOD_NOT_FOUND
  })
  await holdLifeline(run, () => expect.unreachable('It has no lifeline that could break.'))
  // The runtime's end of it: this supervisor closes nothing.
  await (await attached).ended
})
