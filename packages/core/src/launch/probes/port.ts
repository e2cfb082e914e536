import { tryConnect } from './connect.js'
import { type Probe, retry } from './probe.js'

/** Holds when the runtime itself accepts connections on one of its ports, on any of its addresses. */
export function portProbe(name: string): Probe {
  return (context) => {
    const { hosts } = context
    const port = context.ports[name] as number
    return retry(context, async () => {
      const outcomes = await Promise.all(hosts.map((host) => tryConnect({ host, port }, context.signal)))
      for (const outcome of outcomes) if (typeof outcome !== 'string') outcome.destroy()
      context.note(hosts.map((host, at) => `${host}:${port} ${describe(outcomes[at])}`).join(', '))
      const host = hosts.find((_, at) => typeof outcomes[at] !== 'string')
      if (host === undefined || !isOwn(context, port)) return false
      context.answered(host)
      return true
    })
  }
}

/** An answer of somebody else is none. */
export function isOwn({ note, ownsPort }: Parameters<Probe>[0], port: number): boolean {
  if (ownsPort(port) !== false) return true
  note(`another process listens on port ${port}`)
  return false
}

function describe(outcome: unknown): string {
  return typeof outcome === 'string' ? outcome : 'accepts'
}
