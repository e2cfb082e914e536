import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { METHOD_NOT_FOUND, type Peer, ProtocolServer } from '../serve/protocol-server.js'
import { connectRuntime } from './connect-runtime.js'

test('closes its connection with a runtime that proves itself and does not say who it is', async () => {
  let greet: (peer: Peer) => void = () => {}
  const met = new Promise<Peer>((resolve) => {
    greet = resolve
  })
  // The port is part of the proof, and known only when there is a server.
  const port = await freePort()
  const locator = sampleLocator({ endpoint: `tcp:127.0.0.1:${port}` })
  const protocol = new ProtocolServer(Buffer.from(locator.token, 'hex'), locator.endpoint, async (_, __, peer) => {
    greet(peer)
    throw METHOD_NOT_FOUND
  })
  onTestFinished(() => protocol.close())
  await new Promise<void>((resolve) => protocol.server.listen(port, '127.0.0.1', resolve))
  await expect(connectRuntime(locator)).rejects.toThrow('Method not found')
  // The client's end of it: this server closes nothing.
  await (await met).ended
})

async function freePort(): Promise<number> {
  const { server } = new ProtocolServer(Buffer.alloc(32), '', async () => null)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
