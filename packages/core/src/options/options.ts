import type { PlainDefinition } from './plain-definition.js'
import type { Logs, StartSpec } from './start-spec.js'

/** What a finding of one kind does to its test. */
export type Policy = 'fail' | 'warn' | 'ignore'

/**
 * What happens to a process that a test has left: the test is red and it is ended; it is told at the end of the run, and ended then; or it is
 * neither looked for nor ended.
 */
export type LeakPolicy = 'fail' | 'warn' | 'off'

/** A process that may outlive its scope. */
export interface Allowance {
  /** A glob for each argument, the program first; `'**'` at the end is for whatever follows. */
  readonly argv: readonly [string, ...string[]]
  /** Why, for people. */
  readonly reason: string
  /** `'scope'`: it is waited for, and never signalled; `'run'`: it ends with the run; `'forever'`: it is left alone. */
  readonly until: 'scope' | 'run' | 'forever'
}

/** One that a test or a file declares for what it starts. A name spares here, it never selects. */
export type TestAllowance = Omit<Allowance, 'argv'> &
  (
    | { readonly argv: Allowance['argv']; readonly match?: never }
    /** Tells by the command line: a pattern for its words with spaces between them, or a function. */
    | { readonly match: RegExp | ((argv: readonly string[]) => boolean); readonly argv?: never }
  )

/** What counts for some files instead of `leaks`. */
export interface LeakOverride {
  /** Globs, relative to the project's root or to that of the run, or absolute. */
  readonly files: string | readonly string[]
  readonly leaks: LeakPolicy
}

/** Options as a user writes them. */
export interface CustodyOptions {
  /**
   * What happens to a runtime that a test left published and that is proven to be its own: it is retired and the test stays green, or the
   * test is red for a tool that must leave nothing behind.
   * @default 'retire'
   */
  published?: 'retire' | 'fail'
  /**
   * A runtime that listens and is alive but does not prove whose it is. It is left alone in any case.
   * @default 'fail'
   */
  unproven?: Policy
  /**
   * A started runtime that obeyed only SIGKILL. It is gone in any case.
   * @default 'warn'
   */
  forced?: Policy
  /**
   * A started runtime that exited although nobody asked it to, while a test was using it.
   * @default 'fail'
   */
  unexpectedExit?: Policy
  /**
   * A process that a test started by itself and that is still alive when it is judged. `'fail'`: the test is red, and the process is
   * ended; `'warn'`: it is reported, and ended with the run; `'off'`: it is neither looked for nor ended. The variable `CUSTODY_LEAKS`
   * comes before this.
   * @default 'fail'
   */
  leaks?: LeakPolicy
  /**
   * What counts instead of `leaks` for the files that a glob fits; of several the last one. A file comes before with
   * `custody.configure`, and so does `CUSTODY_LEAKS`.
   * @default []
   */
  overrides?: readonly LeakOverride[]
  /**
   * When it is judged: at the end of the test's file, or of the test itself.
   * @default 'file'
   */
  leakScope?: 'file' | 'test'
  /**
   * Processes that may be left.
   * @default []
   */
  allow?: readonly Allowance[]
  /**
   * Whether the background helpers of git, GnuPG, ssh, watchman and adb are spared.
   * @default true
   */
  commonHelpers?: boolean
  /**
   * Whether the message of a leak lists the open files and the sockets of the process.
   * @default false
   */
  explain?: boolean
  /**
   * Where locators may lie besides the registry: globs, absolute or relative to the namespace's directory.
   * @default []
   */
  locators?: readonly string[]
  /**
   * Which namespace directories stay after their test. That of a teardown which failed stays in any case: something may live in it.
   * @default 'on-failure'
   */
  keep?: 'never' | 'on-failure' | 'always'
  /**
   * Whether the processes that tests start are told their namespace by one environment variable. Without it a runtime does not know
   * whose it is, and is `unproven`.
   * @default true
   */
  markChildren?: boolean
  /**
   * Shared runtimes by name, for `custody.shared(name)`: started by the first file that asks, and there for the whole run. They hold no
   * functions: those need `defineRuntime` in a module of your own.
   * @default []
   */
  runtimes?: readonly RuntimeOption[]
  /**
   * What is shown of the output of started runtimes: the last lines when a test of theirs fails; every line as it comes, behind the
   * runtime's name; or nothing. The variable `CUSTODY_LOGS=api,db` shows those as they come.
   * @default 'on-failure'
   */
  logs?: Logs
  timeouts?: {
    /**
     * How long a captured runtime may take to prove itself, in milliseconds.
     * @default 2_000
     */
    proofMs?: number
    /**
     * How long a started runtime may take until it is ready, in milliseconds.
     * @default 30_000
     */
    readyMs?: number
    /**
     * How long a runtime may take to exit after it accepted the shutdown, in milliseconds.
     * @default 5_000
     */
    graceMs?: number
    /**
     * How long a process may take that is just exiting when it is judged, in milliseconds.
     * @default 2_000
     */
    exitMs?: number
    /**
     * How long one teardown may take from its first step to its last, in milliseconds. Each step gets what is left of it.
     * @default 10_000
     */
    teardownMs?: number
  }
  /**
   * What happens when a project runs without Custody, as in a browser: it is named at the end of the run, or the run is red.
   * @default 'warn'
   */
  unmanaged?: 'warn' | 'fail'
  /**
   * Whether a runner without one of the hooks that Custody stands on is an error, instead of a line at the end of the run.
   * @default false
   */
  strict?: boolean
  /** Files to write at the end of the run, relative to the root of the run. */
  report?: {
    /** All receipts and the summary as one JSON document. @default none */
    json?: string
    /** A JUnit XML of what Custody has made red, with a property for each runtime. @default none */
    junit?: string
  }
}

/** A runtime of the option `runtimes`: what `custody.start` takes, without functions, and what a definition has. */
export interface RuntimeOption extends Omit<StartSpec, 'command' | 'needs'> {
  readonly command: readonly [string, ...string[]] | string
  /**
   * Whether it is started before the first file. The environment of every worker then has its URL as `<NAME>_URL`.
   * @default false
   */
  readonly eager?: boolean
  /** See Definition. @default false */
  readonly keepAcrossReruns?: boolean
  /** See Definition. */
  readonly external?: string | undefined
}

/** The same after validation: complete, plain data that travels to workers. */
export interface ResolvedOptions {
  readonly published: 'retire' | 'fail'
  readonly unproven: Policy
  readonly forced: Policy
  readonly unexpectedExit: Policy
  readonly leaks: LeakPolicy
  readonly overrides: readonly { readonly files: readonly string[]; readonly leaks: LeakPolicy }[]
  readonly leakScope: 'file' | 'test'
  readonly allow: readonly Allowance[]
  readonly commonHelpers: boolean
  readonly explain: boolean
  readonly locators: readonly string[]
  readonly keep: 'never' | 'on-failure' | 'always'
  readonly markChildren: boolean
  readonly runtimes: readonly PlainDefinition[]
  readonly logs: Logs
  /** Names of runtimes whose output is shown as it comes, whatever `logs` says. */
  readonly streamed: readonly string[]
  readonly timeouts: {
    readonly proofMs: number
    readonly readyMs: number
    readonly graceMs: number
    readonly exitMs: number
    readonly teardownMs: number
  }
  readonly unmanaged: 'warn' | 'fail'
  readonly strict: boolean
  readonly report: { readonly json: string | null; readonly junit: string | null }
}
