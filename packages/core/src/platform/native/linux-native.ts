import { isMainThread } from 'node:worker_threads'
import { clock, readOrNull, readText } from '@custody/runtime/internals'
import { ExitWatch, type Watched } from './exit-watch.js'
import type { Koffi } from './load-koffi.js'
import type { HeldPeer, HeldProcess, Mechanism, Native } from './native.js'

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

  const close = libc.func('int close(int)') as (descriptor: number) => number
  const poll = libc.func('int poll(void *, unsigned long, int)') as (...args: unknown[]) => number
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
    close(self)
  }
  // libuv's default loop is that of the main thread, and not for others to touch.
  const watch = mechanisms.has('pidfd') && isMainThread ? ExitWatch.openOrNull(koffi) : null
  if (watch !== null) mechanisms.add('exit event')

  const heldBy = (descriptor: number): HeldProcess => {
    const send = (signal: number, flags: number) => isSent(descriptor, signal, flags)
    let exit: Watched | null = null
    return {
      send: (signal) => send(signal, 0),
      sendToGroup: (signal) => (mechanisms.has('group signal') ? send(signal, PIDFD_SIGNAL_PROCESS_GROUP) : null),
      get exited() {
        exit ??= watch?.watch(descriptor) ?? lookForExit(() => isReadable(poll, descriptor))
        return exit.exit
      },
      release() {
        exit?.stop()
        // Not Node's: in a thread it warns of a descriptor that it has not opened.
        close(descriptor)
      },
    }
  }

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
      const held = heldBy(descriptor)
      if (pids.length === 0) held.release()
      return pids.length === 0 ? null : Object.defineProperty(held as HeldPeer, 'pids', { value: pids })
    },
    reap: (pid) => void waitpid(pid, null, WNOHANG),
  }
}

/** Of whom a pidfd is, in each pid namespace from this one down to its own; nothing when it has exited, or nobody tells. */
function readPids(descriptor: number): number[] {
  const info = readOrNull(() => readText(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? ''
  const pids = /^NSpid:\s*(.*)$/m.exec(info)?.[1]?.split(/\s+/).map(Number) ?? []
  return pids.every((pid) => pid > 0) ? pids : []
}

/** A pidfd becomes readable when its process has exited. */
function isReadable(poll: (...args: unknown[]) => number, descriptor: number): boolean {
  const POLLIN = 1
  // struct pollfd: the descriptor, what is asked for, and what there is.
  const request = Buffer.alloc(8)
  request.writeInt32LE(descriptor, 0)
  request.writeInt16LE(POLLIN, 4)
  return poll(request, 1, 0) === 1
}

const LOOK_MS = 10

/** The same as an exit watch where there is none: looks again and again. It keeps no process alive. */
function lookForExit(hasExited: () => boolean): Watched {
  let isOver = false
  const exit = new Promise<void>((resolve) => {
    const look = () => {
      if (isOver) return
      if (hasExited()) return resolve()
      clock.setTimeout(look, LOOK_MS).unref()
    }
    look()
  })
  return {
    exit,
    stop() {
      isOver = true
    },
  }
}
