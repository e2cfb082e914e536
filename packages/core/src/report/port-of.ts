/** A process, and where it listens. */
export interface Listener {
  readonly command: readonly string[]
  /** Addresses of TCP sockets, and paths of others. */
  readonly listensOn: readonly string[]
  /** What its environment says in `PORT`. */
  readonly portVariable: string | null
}

/** A port that a program listens on. */
export interface Port {
  readonly number: number
  /** Where it can be reached. */
  readonly host: string
  /**
   * How the program knows it: it stands in an argument or in the variable `PORT`; the system has chosen it; or it is one of the
   * program's own.
   */
  readonly from: 'argument' | 'variable' | 'system' | 'program'
}

/** From here on systems choose a port for who asks for none: Linux from here, others from higher up. */
const FIRST_CHOSEN = 32_768

/** The port of what was left, or of a process below it; of several rather one that its own command line has. */
export function portOf(left: Listener, below: readonly Listener[]): Port | null {
  const ports = [left, ...below].flatMap(({ listensOn, portVariable }) =>
    listensOn.flatMap((address) => {
      const [, host = '', text] = /^(.*?)[: ](\d+)$/.exec(address) ?? []
      if (text === undefined || isPath(address)) return []
      const number = Number(text)
      const isOfArgument = left.command.slice(1).some((part) => endOf(part, number) !== null)
      const from = isOfArgument ? 'argument' : portVariable === text ? 'variable' : number >= FIRST_CHOSEN ? 'system' : 'program'
      return [{ number, host: hostOf(host), from } as const]
    }),
  )
  const order = ['argument', 'variable', 'program', 'system']
  return ports.sort((a, b) => order.indexOf(a.from) - order.indexOf(b.from))[0] ?? null
}

/** What stands in an argument before the port at its end, or null. */
export function endOf(part: string, port: number): string | null {
  const before = part.slice(0, -String(port).length)
  return part === `${before}${port}` && !/\d$/.test(before) ? before : null
}

/** Whether an address is that of a Unix socket; one of Linux may have a name without a file, which begins with @. */
export function isPath(address: string): boolean {
  return /^[/@]/.test(address)
}

function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '[::]' || host === 'port' ? 'localhost' : host
}
