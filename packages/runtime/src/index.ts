export {
  type ConnectOptions,
  connectRuntime,
  type RuntimeClient,
  type ShutdownOptions,
  type Statement,
} from './client/connect-runtime.js'
export { CustodyError, type CustodyErrorDetails, type RuntimeErrorCode } from './errors.js'
export type { Identity } from './identity.js'
export type { Locator } from './locator/locator.js'
export { readLocator } from './locator/read-locator.js'
export { type DrainOptions, drainHttpServer } from './serve/drain-http-server.js'
export type { ServeRuntimeOptions, Shutdown, ShutdownReason } from './serve/options.js'
export type { Expectation } from './serve/ownership.js'
export { type ServedRuntime, serveRuntime } from './serve/serve-runtime.js'
export type { JsonValue } from './wire/json.js'
