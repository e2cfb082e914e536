import { createServer } from 'node:net'
import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { newRunId } from '../namespace/namespace-id.js'
import { birthmarkOf } from '../tree/birthmark.js'
import { ownsPort } from './owner-of-port.js'

const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })

/** A server, its mark, and the port that it listens on. */
async function serve(host: string, namespace = newRunId(null)) {
  const program = startProgram('servers/answering-http.js', { args: [host], env: { CUSTODY_NAMESPACE: `${namespace}:/run/x` } })
  const [, port] = await program.printed(/:(\d+)\n/)
  const identity = identityOf(program.pid)
  return { port: Number(port), identity, mark: birthmarkOf(namespace, [], identity) }
}

test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('sees that a runtime listens itself on %s', async (host) => {
  const { identity, mark, port } = await serve(host)
  expect(ownsPort(port, mark, identity)).toBe(true)
})

test('sees that a process listens that was born of the runtime', async () => {
  const leader = startProgram('processes/waiting.js')
  await leader.printed(/ready/)
  const namespace = newRunId(null)
  const mark = birthmarkOf(namespace, [], identityOf(leader.pid))
  const { port } = await serve('127.0.0.1', namespace)
  expect(ownsPort(port, mark, identityOf(leader.pid))).toBe(true)
})

test('sees that somebody else listens', async () => {
  const [own, stranger] = [await serve('127.0.0.1'), await serve('127.0.0.1')]
  expect(ownsPort(stranger.port, own.mark, own.identity)).toBe(false)
})

test('sees that nobody listens', async () => {
  const { identity, mark } = await serve('127.0.0.1')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  expect(ownsPort(port, mark, identity)).toBe(false)
})

test('does not take who only talks to a port for who listens there', async () => {
  const { identity, mark, port } = await serve('127.0.0.1')
  const response = await fetch(`http://127.0.0.1:${port}`)
  onTestFinished(() => void response.body?.cancel())
  expect(ownsPort(port, { ...mark, namespace: newRunId(null), known: [ownIdentity()] }, ownIdentity())).toBe(false)
  expect(ownsPort(port, mark, identity)).toBe(true)
})
