import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Custody, custody, withCallersEnv } from '@custody/core/worker'
import type { JestEnvironment } from '@jest/environment'

const BRIDGE: unique symbol = Symbol.for('@custody/jest')

/** What a test's realm sees of us. */
export interface Bridge extends Custody {
  /** Calls one of the members, also of what they gave, in the environment of the test: its `process.env` is a copy. */
  withEnv<T>(env: Readonly<Record<string, string | undefined>> | null, call: () => T): T
}

/** Tests run in a realm of their own. They reach us by this object of functions, which no test can change and Jest's clean-up survives. */
export function publishBridge(environment: JestEnvironment): void {
  publish(environment, {
    get namespace() {
      return custody.namespace
    },
    openNamespace: (name: string) => custody.openNamespace(name),
    start: custody.start,
    shared: custody.shared,
    exec: custody.exec,
    runtimes: custody.runtimes,
    inspect: custody.inspect,
    retire: custody.retire,
    allow: custody.allow,
    inScope: custody.inScope,
    configure: custody.configure,
    withEnv: withCallersEnv,
  })
}

/** The same where tests are only listed: the top level of files runs, and may say what would hold for a run. */
export function publishListing(environment: JestEnvironment): void {
  const dir = join(tmpdir(), 'custody-listing')
  const namespace = { id: 'listing', dir, home: join(dir, 'home'), tmp: join(dir, 'tmp'), env: {} }
  const { exec, inspect, retire, runtimes, shared, start } = custody
  const members = { exec, inspect, retire, runtimes, shared, start }
  publish(environment, {
    ...members,
    namespace,
    openNamespace: () => ({ ...members, ...namespace, close: async () => [], [Symbol.asyncDispose]: async () => {} }),
    allow() {},
    inScope: (_, run) => run(),
    configure() {},
    withEnv: withCallersEnv,
  })
}

function publish(environment: JestEnvironment, bridge: Bridge): void {
  Object.defineProperty(environment.global, BRIDGE, { value: Object.freeze(bridge), configurable: true })
}
