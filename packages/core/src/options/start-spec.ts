/** What shows that a runtime is ready. */
export type Ready =
  /** Its output matches. Named groups are in `match` of the runtime; a group that is named like a port gives that port. */
  | { readonly log: RegExp | string; readonly count?: number; readonly stream?: 'stdout' | 'stderr' }
  /** It accepts connections on one of its ports. */
  | { readonly port: string }
  /** It answers 2xx or 3xx, or a status of the list, at a path of its URL, or at an absolute URL. */
  | { readonly http: string | { readonly url: string; readonly status?: number | readonly number[] } }
  /** A file is there. */
  | { readonly file: string }
  /** A Unix socket accepts connections. */
  | { readonly socket: string }
  /** A command exits with 0. */
  | { readonly exec: readonly [string, ...string[]] }
  /** Its locator is published, and its process proves to be born here. */
  | { readonly locator: string }

/** What to start. */
export interface StartSpec<P extends string = string> {
  /** For people, and for the names of its files. */
  readonly name: string
  /**
   * The program and its arguments. A text is split at spaces, without a shell. A function gets its ports and its directory.
   */
  readonly command: readonly [string, ...string[]] | string | ((given: StartContext<P>) => readonly string[])
  /** Whether a shell reads the command. @default false */
  readonly shell?: boolean
  /** Relative to the project's root. @default the project's root */
  readonly cwd?: string
  /** On top of the test's own environment at the call; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Names of ports to reserve. Each is in the environment as `<NAME>_PORT`, and the first as PORT. */
  readonly ports?: readonly P[]
  /** What must hold before the start resolves: all of it. */
  readonly ready?: Ready | readonly Ready[]
  /** Milliseconds until it must be ready. @default timeouts.readyMs */
  readonly readyMs?: number
  /** What it needs: runtimes, or definitions of shared ones, which are started first. Stopped after it. */
  readonly needs?: readonly (NeededRuntime | NeededDefinition)[]
  /** The polite signal. @default 'SIGTERM' */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT'
  /** Milliseconds that it may take to obey. @default timeouts.graceMs */
  readonly graceMs?: number
  /** What an exit that nobody asked for does to the tests that use it. @default 'fail' */
  readonly onExit?: 'fail' | 'ignore'
  /**
   * Whether the command leaves a daemon behind and exits with 0, like `pg_ctl start` or `redis-server --daemonize yes`. The daemon is
   * adopted by the evidence of the kernel, never by its PID file.
   * @default false
   */
  readonly daemonizes?: boolean
  /** What is shown of its output. @default the option `logs` */
  readonly logs?: Logs
}

/** A runtime that another one needs. */
export interface NeededRuntime {
  readonly name: string
  readonly instance: string
}

/** The definition of a shared runtime that another one needs. */
export interface NeededDefinition {
  readonly name: string
  readonly scope: 'file' | 'worker' | 'run'
}

/** What is shown of a runtime's output: its last lines when a test fails; every line as it comes, behind its name; or nothing. */
export type Logs = 'on-failure' | 'stream' | 'never'

export interface StartContext<P extends string> {
  readonly ports: Readonly<Record<P, number>>
  /** A directory of its own, in that of its scope. */
  readonly dir: string
  readonly namespace: string
}
