// No test runs this file, `tsc -b` reads it: an error that does not come where one is expected is one, and so is any other.
import { custody as inJest } from '@custody/jest'
import { custody, defineRuntime, type Receipt } from '@custody/vitest'

const api = defineRuntime({ scope: 'run', name: 'api', command: ['node', 'api.js'], ports: ['http', 'admin'] })

export const cases: Readonly<Record<string, () => unknown>> = {
  'a port that was not asked for': async () => {
    const started = await custody.start({ name: 'api', command: 'node api.js', ports: ['http'], ready: { http: '/' } })
    const port: number = started.ports.http
    // @ts-expect-error there is no such port
    return [port, started.ports.htpp]
  },
  'a port of a shared runtime that was not asked for': async () => {
    const { ports } = await inJest.shared(api)
    // @ts-expect-error there is no such port
    return [ports.http, ports.admin, ports.other]
  },
  'a port that its command does not have': () =>
    custody.start({
      name: 'api',
      ports: ['http'],
      // @ts-expect-error there is no such port
      command: ({ ports }) => ['node', 'api.js', String(ports.http), String(ports.admin)],
    }),
  'the stop of a runtime that others use': async () => {
    const shared = await custody.shared(api)
    // @ts-expect-error nobody stops it alone
    return shared.stop()
  },
  'a scope that there is not': () =>
    // @ts-expect-error 'galaxy' is none
    defineRuntime({ scope: 'galaxy', name: 'api', command: 'node' }),
  'a condition that there is not': () =>
    // @ts-expect-error a log is a text or a pattern
    custody.start({ name: 'api', command: 'node', ready: { log: 4 } }),
  'a definition among what is needed, which does compile': () =>
    custody.start({ name: 'web', command: 'node web.js', needs: [api] }),
  'a definition that depends on another, which does compile': () =>
    defineRuntime({
      scope: 'run',
      name: 'web',
      spec: async ({ shared }) => {
        const { url } = await shared(api)
        return { command: ['node', 'web.js'], env: { API: url }, ports: ['web'] }
      },
    }),
  'a receipt, which does compile': async (): Promise<Receipt> => (await custody.start({ name: 'api', command: 'node' })).stop(),
}
