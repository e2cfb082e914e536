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
  const bridge: Bridge = Object.freeze({
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
  Object.defineProperty(environment.global, BRIDGE, { value: bridge, configurable: true })
}
