import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import type { Identity } from '@custody/runtime'
import { clock, Deadline, hasEnded, ownIdentity, seeStart } from '@custody/runtime/internals'
import { type ControlGroups, currentNative, type HeldProcess, platform, spawnStyle } from '../platform/index.js'
import { type Birthmark, birthmarkOf } from '../tree/birthmark.js'
import { type FileId, fileIdOf } from '../tree/file-id.js'
import { findBornHere } from '../tree/find-born-here.js'
import { findHeadGroups, findHeads } from '../tree/find-heads.js'
import { sendSignal } from '../tree/send-signal.js'
import { EMPTY_LOOKS, type Leader, stopTree } from '../tree/stop-tree.js'
import type { SignalProof } from '../witness/witness.js'
import { logPathsOf } from './log-paths.js'
import { noteChild } from './orphans.js'
import type { Ended, ExitStatus, Spawned, SpawnRequest } from './protocol.js'

/** A runtime that the supervisor has started and is the parent of. */
export class ManagedProcess implements Leader {
  readonly request: SpawnRequest
  readonly spawned: Spawned
  readonly files: readonly FileId[]
  /** Resolves when its first process has exited. */
  readonly exited: Promise<ExitStatus>
  exit: ExitStatus | null = null
  readonly held: HeldProcess | null
  /** What its command has left behind, which is the runtime then. */
  #daemon: Identity | null = null
  #isAskedToStop = false
  readonly #child: ChildProcess
  readonly #group: string | undefined
  #logHolds: readonly number[]
  #stopping: Promise<Ended> | null = null
  /** When it must have obeyed at the latest. */
  #obeyBy = Deadline.after(Infinity)

  private constructor(
    request: SpawnRequest,
    {
      child,
      files,
      group,
      held,
      logHolds,
      spawned,
    }: Pick<ManagedProcess, 'files' | 'held' | 'spawned'> & {
      readonly child: ChildProcess
      readonly group: string | undefined
      readonly logHolds: readonly number[]
    },
  ) {
    this.request = request
    this.spawned = spawned
    this.files = files
    this.held = held
    this.#child = child
    this.#group = group
    this.#logHolds = logHolds
    this.exited = new Promise((resolve) => {
      // Not 'close': a helper that holds an inherited pipe would hold it for ever.
      child.once('exit', (code, signal) => {
        this.exit = { code, signal }
        resolve(this.exit)
      })
    })
  }

  /**
   * Starts a command. Its output goes to files, not to pipes: nothing blocks when nobody reads, and what daemonizes holds nobody.
   * @param groups the control groups of the run, where there are any: it is born in one of its own
   * @throws {Error} Node's, with `code`, when there is no such command or directory
   */
  static async start(request: SpawnRequest, logDirectory: string, groups: ControlGroups | null = null): Promise<ManagedProcess> {
    mkdirSync(logDirectory, { recursive: true, mode: 0o700 })
    const { err, out: both } = logPathsOf(request.id, logDirectory)
    const logs = { stdout: both, stderr: request.areStreamsApart ? err : both }
    const paths = [...new Set([logs.stdout, logs.stderr])]
    const descriptors: number[] = []
    const logHolds: number[] = []
    try {
      for (const path of paths) {
        // New ones, and no links: whoever writes to them was given them.
        descriptors.push(openSync(path, 'ax', 0o600))
        // As long as they are held their numbers are nobody else's, whoever removes them.
        logHolds.push(openSync(path, 'r'))
      }
      const [out, err = out] = descriptors as [number, number?]
      const [file, ...args] = request.argv
      const group = groups?.enter(request.id) ?? undefined
      const child = spawn(file, args, {
        cwd: request.cwd,
        env: request.env,
        shell: request.shell,
        detached: spawnStyle.isDetached,
        windowsHide: true,
        stdio: ['ignore', out, err, ...markDescriptors(out)],
      })
      noteChild(child)
      // At once: nobody has reaped it yet, and it has hardly had the time to exit.
      const start = child.pid === undefined ? null : seeStart(child.pid)
      const held = child.pid === undefined ? null : (currentNative()?.hold(child.pid) ?? null)
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve)
        child.once('error', reject)
      })
      const pid = child.pid as number
      const { boot, pidns, timens } = ownIdentity()
      const identity: Identity = { pid, start, boot, pidns, timens }
      const files = descriptors.map(fileIdOf)
      return new ManagedProcess(request, { child, held, group, logHolds, spawned: { identity, logs }, files })
    } catch (error) {
      for (const descriptor of logHolds) closeSync(descriptor)
      throw error
    } finally {
      for (const descriptor of descriptors) closeSync(descriptor)
    }
  }

  get identity(): Identity {
    return this.spawned.identity
  }

  /** Has the runtime be what its command has left behind. Null when the kernel shows nobody to be born of it. */
  adopt(): Identity | null {
    this.#daemon = this.#findHead()
    return this.#daemon
  }

  /** Looks whether its daemon has exited, and nobody has taken its place. */
  findLoss(): boolean {
    if (this.#daemon === null || hasEnded(this.#daemon) !== true) return false
    const successor = this.#findHead()
    this.#daemon = successor ?? this.#daemon
    return successor === null
  }

  /** The head of all that was born of it, and the oldest of several. No PID file is asked. */
  #findHead(): Identity | null {
    const isOlder = (a: Identity, b: Identity) => platform.isOlder(a.start ?? '0', b.start ?? '0') === true
    for (let look = 0; look < EMPTY_LOOKS; look++) {
      const [oldest] = findHeads(this.find()).sort((a, b) => (isOlder(a, b) ? -1 : 1))
      if (oldest !== undefined) return oldest
    }
    return null
  }

  get isExpected(): boolean {
    return this.#isAskedToStop
  }

  /** What shows that something was born of it. */
  get mark(): Birthmark {
    return {
      ...birthmarkOf(this.request.id, this.files, this.identity),
      ...(this.#group !== undefined && { group: this.#group }),
    }
  }

  /** It, and everything that was born of it. */
  find(): Identity[] {
    return findBornHere(this.mark, [])
  }

  isUnreaped(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /**
   * Sends a signal to its group, or to the heads of what it has left behind, for a test that wants to see what happens. An exit that follows
   * from it is an expected one.
   */
  signal(signal: NodeJS.Signals): boolean {
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.#isAskedToStop = true
    const isUnreaped = () => this.isUnreaped()
    if (isUnreaped()) return sendSignal(signal, { kind: 'group', leader: this.identity, isUnreaped })
    const proofs = new Map<number, SignalProof>()
    const found = findBornHere(this.mark, [], { onFound: ({ pid }, proof) => proofs.set(pid, proof) })
    return findHeadGroups(found)
      .map((identity) => sendSignal(signal, { kind: 'process', identity, proof: proofs.get(identity.pid) as SignalProof }))
      .includes(true)
  }

  /** Ends it and everything that was born of it. Once, however often it is asked; the shortest grace holds. */
  stop(spared: readonly Identity[], graceMs: number = this.request.graceMs): Promise<Ended> {
    this.#obeyBy = this.#obeyBy.within(graceMs)
    this.#stopping ??= this.#stop(spared, graceMs)
    return this.#stopping
  }

  async #stop(spared: readonly Identity[], graceMs: number): Promise<Ended> {
    const begun = clock.now()
    const { id, name, scope, stopSignal } = this.request
    // Its exit may have happened, and not have been told to this process yet.
    const hasExited = this.#daemon === null ? this.exit !== null || hasEnded(this.identity) === true : this.findLoss()
    this.#isAskedToStop ||= !hasExited
    const expected = this.#isAskedToStop
    const obeyBy = () => this.#obeyBy
    const { forced, left, signals } = await stopTree({ mark: this.mark, leader: this, spared, stopSignal, graceMs, obeyBy })
    // Whoever asks again tries again.
    if (left.length > 0) this.#stopping = null
    else {
      // Its parent is this process: the status comes as soon as it has been reaped.
      await this.exited
      this.held?.release()
      for (const descriptor of this.#logHolds) closeSync(descriptor)
      this.#logHolds = []
    }
    const identity = this.#daemon ?? this.identity
    const exit = this.#daemon === null ? this.exit : unknownStatus
    return {
      ...{ id, scope, name, identity, exit, expected, signals, forced, left },
      tookMs: Math.round(clock.now() - begun),
    }
  }
}

/** The exit of a process that is nobody's child here. */
export const unknownStatus: ExitStatus = { code: null, signal: null }

function markDescriptors(descriptor: number): ('ignore' | number)[] {
  const at = spawnStyle.markDescriptor
  if (at === null) return []
  // Nothing is opened for an ignored descriptor above 2.
  return [...Array.from({ length: at - 3 }, () => 'ignore' as const), descriptor]
}
