import startServerAndTest from 'start-server-and-test'
import { heldTests } from '../measure/held-tests.mjs'

export async function start(server) {
  const tests = heldTests(server)
  const ended = startServerAndTest.startAndTest({
    services: [{ start: server.command.join(' '), url: [`http://127.0.0.1:${server.port}/`] }],
    test: tests.command,
    namedArguments: { expect: 200 },
  })
  await Promise.race([tests.begun(), ended])
  return {
    async stop() {
      tests.release()
      await ended
    },
  }
}
