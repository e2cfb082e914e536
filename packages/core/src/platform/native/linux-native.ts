import { closeSync, readFileSync } from 'node:fs'
import { ExitWatch } from './exit-watch.js'
import type { Koffi } from './load-koffi.js'
import type { HeldProcess, Mechanism, Native } from './native.js'

// The numbers of these system calls are the same on all architectures: they came after that was agreed on.
const SYS_PIDFD_SEND_SIGNAL = 424
const SYS_PIDFD_OPEN = 434
const PIDFD_SIGNAL_PROCESS_GROUP = 4
const PR_SET_CHILD_SUBREAPER = 36
const WNOHANG = 1
const SOL_SOCKET = 1
const SO_PEERPIDFD = 77

/** Linux through koffi. Each part is tried: an old kernel has not all of them, and a sandbox may refuse them. */
export function linuxNative(koffi: Koffi): Native {
  const libc = koffi.load(null)
  const syscall = libc.func('long syscall(long, ...)') as (...args: unknown[]) => number
  const prctl = libc.func('int prctl(int, ...)') as (...args: unknown[]) => number
  const waitpid = libc.func('int waitpid(int, void *, int)') as (pid: number, status: null, options: number) => number

  const getsockopt = libc.func('int getsockopt(int, int, int, _Out_ int *, _Inout_ uint32_t *)') as (...args: unknown[]) => number

  const open = (pid: number): number | null => {
    const descriptor = syscall(SYS_PIDFD_OPEN, 'int', pid, 'unsigned int', 0)
    return descriptor < 0 ? null : descriptor
  }
  const isSent = (descriptor: number, signal: number, flags: number): boolean =>
    syscall(SYS_PIDFD_SEND_SIGNAL, 'int', descriptor, 'int', signal, 'void *', null, 'unsigned int', flags) === 0

  const mechanisms = new Set<Mechanism>()
  const self = open(process.pid)
  if (self !== null) {
    // Signal 0 asks whether it could be sent, and sends none.
    if (isSent(self, 0, 0)) mechanisms.add('pidfd')
    if (isSent(self, 0, PIDFD_SIGNAL_PROCESS_GROUP)) mechanisms.add('group signal')
    closeSync(self)
  }
  const watch = mechanisms.has('pidfd') ? ExitWatch.openOrNull(koffi) : null
  if (watch !== null) mechanisms.add('exit event')

  const heldBy = (descriptor: number) =>
    new Held(descriptor, watch, (signal, toGroup) => {
      if (toGroup && !mechanisms.has('group signal')) return null
      return isSent(descriptor, signal, toGroup ? PIDFD_SIGNAL_PROCESS_GROUP : 0)
    })

  return {
    mechanisms,
    adoptOrphans() {
      if (prctl(PR_SET_CHILD_SUBREAPER, 'unsigned long', 1) === 0) mechanisms.add('subreaper')
    },
    hold(pid) {
      const descriptor = mechanisms.has('pidfd') ? open(pid) : null
      return descriptor === null ? null : heldBy(descriptor)
    },
    holdPeer(socket) {
      const found: number[] = [-1]
      if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, found, [4]) !== 0) return null
      const [descriptor = -1] = found
      const pids = readPids(descriptor)
      if (pids.length > 0) return Object.assign(heldBy(descriptor), { pids })
      closeSync(descriptor)
      return null
    },
    reap: (pid) => void waitpid(pid, null, WNOHANG),
  }
}

/** Of whom a pidfd is, in each pid namespace from this one down to its own; nothing when it has exited. */
function readPids(descriptor: number): number[] {
  const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
  const pids = /^NSpid:\s*(.*)$/m.exec(info)?.[1]?.split(/\s+/).map(Number) ?? []
  return pids.every((pid) => pid > 0) ? pids : []
}

class Held implements HeldProcess {
  readonly #descriptor: number
  readonly #watch: ExitWatch | null
  readonly #send: (signal: number, toGroup: boolean) => boolean | null
  #exited: { readonly exit: Promise<void>; readonly stop: () => void } | null = null

  constructor(descriptor: number, watch: ExitWatch | null, send: (signal: number, toGroup: boolean) => boolean | null) {
    this.#descriptor = descriptor
    this.#watch = watch
    this.#send = send
  }

  send(signal: number): boolean | null {
    return this.#send(signal, false)
  }

  sendToGroup(signal: number): boolean | null {
    return this.#send(signal, true)
  }

  get exited(): Promise<void> | null {
    this.#exited ??= this.#watch?.watch(this.#descriptor) ?? null
    return this.#exited?.exit ?? null
  }

  release(): void {
    this.#exited?.stop()
    closeSync(this.#descriptor)
  }
}
