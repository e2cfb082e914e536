// No test runs this file, `tsc -b` reads it: an error that does not come where one is expected is one, and so is any other.
import { type CustodyOptions as InJest, custody as inJest, type StartContext } from '@custody/jest'
import { type CustodyOptions, custody, test as custodyTest, defineRuntime, type Logs, type Receipt } from '@custody/vitest'

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
  'options in a module of their own, which do compile': () => {
    const logs: Logs = 'stream'
    const options: CustodyOptions & InJest = { leaks: 'warn', logs, overrides: [{ files: '**', leaks: 'fail' }] }
    // @ts-expect-error there is no such option
    const wrong: CustodyOptions = { leak: 'warn' }
    const command = ({ ports }: StartContext<'http'>) => ['node', 'api.js', String(ports.http)]
    return [options, wrong, custody.start({ name: 'api', ports: ['http'], command })]
  },
  'a receipt, which does compile': async (): Promise<Receipt> => (await custody.start({ name: 'api', command: 'node' })).stop(),
  'the fixture custody, beside those of an extended test': () => {
    const test = custodyTest.extend<{ answer: number }>({ answer: 42 })
    test('both', async ({ answer, custody: own }) => {
      const { ports } = await own.start({ name: 'api', command: 'node api.js', ports: ['http'] })
      // @ts-expect-error there is no such port
      return [answer.toFixed(), ports.http, ports.admin]
    })
    test.each([1])('%s', (n) => {
      n.toFixed()
    })
    // @ts-expect-error there is no such fixture
    custodyTest('none', ({ nothing }) => void nothing)
  },
  'what may be left, told by words or by a match, and not by both': () => {
    custody.allow({ argv: ['node', '**'], reason: 'a cache', until: 'run' })
    custody.allow({ match: /^node /, reason: 'a cache', until: 'forever' })
    // @ts-expect-error either
    custody.allow({ argv: ['node'], match: /^node /, reason: 'a cache', until: 'run' })
    // @ts-expect-error there is no such time
    custody.allow({ argv: ['node'], reason: 'a cache', until: 'test' })
  },
  'a wider scope, which gives what its function gives': async () => {
    const started = await custody.inScope('file', () => custody.start({ name: 'api', command: 'node api.js', ports: ['http'] }))
    // @ts-expect-error a test is no wider scope
    return [started.ports.http, custody.inScope('test', () => 1)]
  },
}
