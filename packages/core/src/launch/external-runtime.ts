import { URL } from 'node:url'
import { CustodyError } from '@custody/runtime/internals'
import type { Ready, StartSpec } from '../options/start-spec.js'
import { refusal } from './check-spec.js'
import { LogFile } from './log-file.js'
import { describeReady } from './probes/index.js'
import type { Shared } from './started-runtime.js'
import { untilReady } from './until-ready.js'

/** Where an external runtime is waited for. */
export interface ExternalPlace {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly readyMs: number
}

/**
 * The handle of a runtime that runs already, when its conditions hold. Nothing is started and nothing is stopped.
 * @throws CUSTODY_START_FAILED when they do not hold in time; CUSTODY_INVALID_OPTION for conditions that only what was started here has
 */
export async function externalRuntime<P extends string>(
  spec: StartSpec<P>,
  url: string,
  { cwd, env, readyMs }: ExternalPlace,
): Promise<Shared<P>> {
  const { name, ready = [] } = spec
  const conditions = [ready].flat() as readonly Ready[]
  for (const condition of conditions) assertObservable(condition, spec.ports ?? [])
  const ports = portsOf(spec, new URL(url))
  const { observed, problem } = await untilReady(
    {
      ...{ ports, url, cwd, env, hosts: [new URL(url).hostname.replace(/[[\]]/g, '')] },
      // Its log is somebody else's.
      logs: { stdout: new LogFile(''), stderr: new LogFile('') },
      // Whoever answers there is meant.
      ownsPort: () => null,
      owns: () => false,
    },
    { conditions, readyMs, daemonizes: false, mayExit: false, signal: new AbortController().signal, exit: new Promise(() => {}) },
  )
  if (problem !== null) {
    const lines = observed.map((line) => `\n  ${line}`).join('')
    throw new CustodyError('CUSTODY_START_FAILED', `Could not use external runtime "${name}" at ${url}: ${problem}.${lines}`, {
      hint: 'see that it runs, or leave external out to have it started.',
      facts: { name, url, observed },
    })
  }
  const refuse = (what: string) => (): never => {
    throw new CustodyError('CUSTODY_EXTERNAL', `Could not ${what} runtime "${name}": it is external, at ${url}.`, {
      hint: 'leave external out to have it started, and to have this.',
      facts: { name, url },
    })
  }
  const get = refuse('read the process of')
  const shared: Omit<Shared<P>, 'pid' | 'identity'> = {
    ...{ name, url, ports, isExternal: true, match: null, env: {}, dir: cwd },
    instance: `external.${name}`,
    log: { path: '', text: () => '', tail: () => '', waitFor: async () => refuse('read the log of')() },
    // Nobody here would be told.
    exited: new Promise(() => {}),
    pause: async () => refuse('pause')(),
    resume: async () => refuse('resume')(),
    kill: async () => refuse('send a signal to')(),
    crash: async () => refuse('crash')(),
  }
  // Not enumerable: who prints it, or compares it, does not ask for them.
  return Object.defineProperties(shared, { pid: { get }, identity: { get } }) as Shared<P>
}

function assertObservable(condition: Ready, [first]: readonly string[]): void {
  if ('port' in condition ? condition.port === first : 'http' in condition || 'exec' in condition) return
  throw refusal('ready', describeReady(condition), 'its first port, http or exec to a runtime with external')
}

/** Its first port is that of its URL. Of others it says nothing. */
function portsOf<P extends string>({ ports = [] }: StartSpec<P>, { port, protocol }: URL): Readonly<Record<P, number>> {
  const [first] = ports
  const known = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  return (first === undefined ? {} : { [first]: known }) as Readonly<Record<P, number>>
}
