import { closeSync } from 'node:fs'
import { ExitWatch } from './exit-watch.js'
import type { Koffi } from './load-koffi.js'
import type { HeldProcess, Mechanism, Native } from './native.js'

// The numbers of these system calls are the same on all architectures: they came after that was agreed on.
const SYS_PIDFD_SEND_SIGNAL = 424
const SYS_PIDFD_OPEN = 434
const PIDFD_SIGNAL_PROCESS_GROUP = 4
const PR_SET_CHILD_SUBREAPER = 36
const WNOHANG = 1

/** Linux through koffi. Each part is tried: an old kernel has not all of them, and a sandbox may refuse them. */
export function linuxNative(koffi: Koffi): Native {
  const libc = koffi.load(null)
  const syscall = libc.func('long syscall(long, ...)') as (...args: unknown[]) => number
  const prctl = libc.func('int prctl(int, ...)') as (...args: unknown[]) => number
  const waitpid = libc.func('int waitpid(int, void *, int)') as (pid: number, status: null, options: number) => number

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

  return {
    mechanisms,
    adoptOrphans() {
      if (prctl(PR_SET_CHILD_SUBREAPER, 'unsigned long', 1) === 0) mechanisms.add('subreaper')
    },
    hold(pid) {
      const descriptor = mechanisms.has('pidfd') ? open(pid) : null
      if (descriptor === null) return null
      return new Held(descriptor, watch, (signal, toGroup) => {
        if (toGroup && !mechanisms.has('group signal')) return null
        return isSent(descriptor, signal, toGroup ? PIDFD_SIGNAL_PROCESS_GROUP : 0)
      })
    },
    reap: (pid) => void waitpid(pid, null, WNOHANG),
  }
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
