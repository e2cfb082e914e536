import type { Koffi } from './load-koffi.js'

/** libuv's own number for the kind of handle, stable since its first version. */
const UV_POLL = 8
const UV_READABLE = 1

/** An exit that is watched. */
export interface Watched {
  readonly exit: Promise<void>
  /** To be called before the descriptor is closed. */
  stop(): void
}

/**
 * Tells of exits through Node's own event loop: a pidfd becomes readable when its process has exited, and libuv, which is part of
 * every Node, watches it. It costs no thread and no look.
 */
export class ExitWatch {
  readonly #koffi: Koffi
  readonly #uv: LibUv
  readonly #exits = new Map<bigint, () => void>()
  readonly #handles = new Map<bigint, unknown>()

  private constructor(koffi: Koffi) {
    this.#koffi = koffi
    this.#uv = loadLibUv(
      koffi,
      (address) => this.#exits.get(address)?.(),
      (address) => this.#free(address),
    )
  }

  /** Null where this Node does not show its libuv. */
  static openOrNull(koffi: Koffi): ExitWatch | null {
    try {
      return new ExitWatch(koffi)
    } catch {
      return null
    }
  }

  /** Watches a pidfd. Null when libuv refuses. The watch keeps no process alive. */
  watch(descriptor: number): Watched | null {
    const handle = this.#koffi.alloc('char', this.#uv.pollBytes)
    const address = this.#koffi.address(handle)
    if (this.#uv.init(handle, descriptor) !== 0) {
      this.#koffi.free(handle)
      return null
    }
    this.#handles.set(address, handle)
    const stop = () => {
      // A handle is closed once; its memory is libuv's until it says so.
      if (this.#exits.delete(address)) this.#uv.close(handle)
    }
    const exit = new Promise<void>((resolve) => {
      this.#exits.set(address, () => {
        stop()
        resolve()
      })
    })
    if (this.#uv.start(handle) === 0) return { exit, stop }
    stop()
    return null
  }

  #free(address: bigint): void {
    this.#koffi.free(this.#handles.get(address))
    this.#handles.delete(address)
  }
}

interface LibUv {
  readonly pollBytes: number
  init(handle: unknown, descriptor: number): number
  /** Begins to look, without keeping the loop alive. */
  start(handle: unknown): number
  close(handle: unknown): void
}

/** @throws {Error} koffi's, when a function is missing */
function loadLibUv(koffi: Koffi, onReadable: (address: bigint) => void, onClosed: (address: bigint) => void): LibUv {
  const lib = koffi.load(null)
  const loop = (lib.func('void *uv_default_loop()') as () => unknown)()
  const init = lib.func('int uv_poll_init(void *, void *, int)') as (...args: unknown[]) => number
  const pollType = koffi.pointer(koffi.proto('void (void *handle, int status, int events)'))
  const closeType = koffi.pointer(koffi.proto('void (void *handle)'))
  const start = lib.func('uv_poll_start', 'int', ['void *', 'int', pollType]) as (...args: unknown[]) => number
  const close = lib.func('uv_close', 'void', ['void *', closeType]) as (...args: unknown[]) => void
  const unref = lib.func('void uv_unref(void *)') as (handle: unknown) => void
  // Registered once, for all handles: who is meant stands in the argument.
  const readable = koffi.register((handle: unknown) => onReadable(koffi.address(handle)), pollType)
  const closed = koffi.register((handle: unknown) => onClosed(koffi.address(handle)), closeType)
  return {
    pollBytes: (lib.func('size_t uv_handle_size(int)') as (kind: number) => number)(UV_POLL),
    init: (handle, descriptor) => init(loop, handle, descriptor),
    start(handle) {
      unref(handle)
      return start(handle, UV_READABLE, readable)
    },
    close: (handle) => close(handle, closed),
  }
}
