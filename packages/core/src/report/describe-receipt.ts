import type { Receipt } from '../retire/receipt.js'

/** How one runtime ended, in a line. */
export function describeReceipt({ exit, forced, identity, name, verdict }: Receipt): string {
  const who = `"${name ?? 'unknown'}"${identity === null ? '' : ` (pid ${identity.pid})`}`
  const how =
    typeof exit === 'string' ? `exit ${exit}` : exit.signal === null ? `exit code ${exit.code}` : `ended by ${exit.signal}`
  return `${who}: ${verdict}, ${how}${forced ? ', forced' : ''}`
}
