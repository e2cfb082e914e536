import type { AddressInfo } from 'node:net'
import type { Locator } from '@custody/runtime'
import { type Peer, ProtocolServer } from '@custody/runtime/internals'
import { onTestFinished } from 'vitest'
import { sampleLocator } from './sample-locator.js'

/**
 * Serves a runtime's half of the protocol in this process, with whatever answers a test wants.
 * @returns a locator with which it is found, of another process or of none
 */
export async function serveAnswers(
  answer: (method: string, params: unknown, peer: Peer) => Promise<unknown>,
  changes: Partial<Locator> = {},
): Promise<Locator> {
  // The port is part of the proof, and known only when there is a server.
  const probe = new ProtocolServer(Buffer.alloc(32), '', async () => null)
  await new Promise<void>((resolve) => probe.server.listen(0, '127.0.0.1', resolve))
  const { port } = probe.server.address() as AddressInfo
  await new Promise((resolve) => probe.server.close(resolve))
  const locator = sampleLocator({ ...changes, endpoint: `tcp:127.0.0.1:${port}` })
  const protocol = new ProtocolServer(Buffer.from(locator.token, 'hex'), locator.endpoint, answer)
  onTestFinished(() => protocol.close())
  await new Promise<void>((resolve) => protocol.server.listen(port, '127.0.0.1', resolve))
  return locator
}
