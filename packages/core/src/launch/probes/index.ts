import type { Ready } from '../../options/start-spec.js'
import { withoutSecrets } from '../../tree/without-secrets.js'
import { execProbe } from './exec.js'
import { fileProbe } from './file.js'
import { httpProbe } from './http.js'
import { locatorProbe } from './locator.js'
import { logProbe } from './log.js'
import { portProbe } from './port.js'
import type { Probe } from './probe.js'
import { socketProbe } from './socket.js'

/** The probe of one condition. */
export function probeOf(ready: Ready): Probe {
  if ('log' in ready) return logProbe(ready.log, ready.count ?? 1, ready.stream ?? 'stdout')
  if ('port' in ready) return portProbe(ready.port)
  if ('http' in ready) return httpProbe(ready.http)
  if ('file' in ready) return fileProbe(ready.file)
  if ('socket' in ready) return socketProbe(ready.socket)
  if ('exec' in ready) return execProbe(ready.exec)
  return locatorProbe(ready.locator)
}

/** A condition in a few words. */
export function describeReady(ready: Ready): string {
  const [[kind, value] = ['', '']] = Object.entries(ready)
  const shown: unknown = kind === 'exec' ? withoutSecrets(value as readonly string[]) : value
  return `${kind} ${shown instanceof RegExp ? shown : JSON.stringify(shown)}`
}
