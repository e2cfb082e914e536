/** Where a runtime listens. The string itself is what both sides authenticate; it is never normalised. */
export type Endpoint =
  | { kind: 'unix'; path: string }
  | { kind: 'pipe'; path: string }
  | { kind: 'tcp'; host: string; port: number }

/** Reads `unix:/absolute/path`, `pipe:\\.\pipe\name`, or `tcp:127.0.0.1:port` and `tcp:[::1]:port`. Null for everything else. */
export function parseEndpoint(text: string): Endpoint | null {
  if (text.length > 512 || text.includes('\0')) return null
  const colon = text.indexOf(':')
  const kind = text.slice(0, colon)
  const rest = text.slice(colon + 1)
  if (kind === 'unix' && rest.startsWith('/')) return { kind, path: rest }
  if (kind === 'pipe' && rest.startsWith('\\\\.\\pipe\\')) return { kind, path: rest }
  const tcp = /^(127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})$/.exec(rest)
  if (kind !== 'tcp' || tcp?.[1] === undefined || tcp[2] === undefined) return null
  const port = Number(tcp[2])
  return port > 65_535 ? null : { kind, host: tcp[1].replace(/[[\]]/g, ''), port }
}
