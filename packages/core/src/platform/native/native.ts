/** What holds here beyond plain Node, each by itself; the report names them. */
export type Mechanism =
  /** Orphans of what was started become children of the supervisor. */
  | 'subreaper'
  /** Signals go to a process that is held, not to a number. */
  | 'pidfd'
  /** The same for a whole group, also when its leader has been reaped. */
  | 'group signal'
  /** The kernel tells of an exit, of one's child or not. */
  | 'exit event'
  /** What was started is in a control group of its own. */
  | 'cgroup'

/** A process that is held: its number cannot become another's in this hand. */
export interface HeldProcess {
  /** @returns false when it has exited, or this user may not; null where it cannot be sent this way */
  send(signal: number): boolean | null
  /** The same to its group, for the leader of one. */
  sendToGroup(signal: number): boolean | null
  /** Resolves when it has exited. */
  readonly exited: Promise<void>
  release(): void
}

export interface HeldPeer extends HeldProcess {
  /** Its number here, and in each pid namespace below down to its own. */
  readonly pids: readonly number[]
}

/** What only native code can ask of a system. */
export interface Native {
  readonly mechanisms: ReadonlySet<Mechanism>
  /** Has orphans of its descendants come to this process, from now on. */
  adoptOrphans(): void
  /** Takes hold of a process, or of a zombie; null when there is none of that number, or it cannot be held. */
  hold(pid: number): HeldProcess | null
  /**
   * Takes hold of the process at the other end of a Unix socket: the one that listens there.
   * @returns null when it has exited, or the system does not tell
   */
  holdPeer(descriptor: number): HeldPeer | null
  /** Reaps a zombie that has come to this process as an orphan. Never one that Node has started: it would miss its exit. */
  reap(pid: number): void
}
