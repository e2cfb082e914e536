import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs'
import { parseStat, readOrNull, readText } from '@custody/runtime/internals'
import type { Platform, ProcessEntry } from './index.js'

export const linux: Platform = {
  readProcess,

  holdsNumber(pid, start) {
    const line = readOrNull(() => readText(`/proc/${pid}/stat`, 'latin1'))
    // Field 22; a zombie keeps it.
    return line?.slice(line.lastIndexOf(')') + 2).split(' ')[19] === start
  },

  isListingCheap: true,

  listProcesses(listed = new Set()) {
    // Synchronous on purpose: on procfs it is five to eight times as fast as asynchronous reads.
    const fresh = readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && !listed.has(pid))
    for (const pid of fresh) listed.add(pid)
    return fresh.map(readProcess).filter((entry) => entry !== null)
  },

  readLastPid() {
    const last = readOrNull(() => readText('/proc/loadavg', 'latin1'))
      ?.trim()
      .split(' ')
      .at(-1)
    return last === undefined ? null : Number(last)
  },

  listChildren() {
    // A child belongs to the thread that has started it, or that it came to.
    const threads = readOrNull(() => readdirSync('/proc/self/task')) ?? []
    const lists = threads.map((thread) => readOrNull(() => readText(`/proc/self/task/${thread}/children`, 'latin1')))
    // A kernel may be built without them.
    if (lists.every((list) => list === null)) return null
    return lists.flatMap((list) => (list ?? '').split(' ').filter(Boolean).map(Number))
  },

  readInitialVariable(pid, name) {
    const environment = readOrNull(() => readText(`/proc/${pid}/environ`))
    if (environment === null) return readProcess(pid) === null ? 'absent' : 'unreadable'
    const entry = environment.split('\0').find((pair) => pair.startsWith(`${name}=`))
    return entry === undefined ? 'absent' : { value: entry.slice(name.length + 1) }
  },

  listWrittenFiles(pid) {
    const directory = `/proc/${pid}/fd`
    const names = readOrNull(() => readdirSync(directory)) ?? []
    return names.flatMap((name) => {
      // The mode of the link says how the descriptor was opened.
      const link = readOrNull(() => lstatSync(`${directory}/${name}`))
      if (link === null || (link.mode & 0o200) === 0) return []
      const file = readOrNull(() => statSync(`${directory}/${name}`))
      return file === null ? [] : [{ dev: file.dev, ino: file.ino }]
    })
  },

  listListeners(port) {
    const wanted = port.toString(16).toUpperCase().padStart(4, '0')
    return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => {
      const table = readOrNull(() => readText(path, 'latin1')) ?? ''
      return table.split('\n').flatMap((line) => {
        // Local address, remote address, state (0A listens), …, inode.
        const fields = line.trim().split(/\s+/)
        return fields[3] === '0A' && fields[1]?.endsWith(`:${wanted}`) ? [Number(fields[9])] : []
      })
    })
  },

  holdsSocket(pid, sockets) {
    const directory = `/proc/${pid}/fd`
    const names = readOrNull(() => readdirSync(directory))
    if (names === null) return readProcess(pid) === null ? false : null
    const wanted = new Set(sockets.map((inode) => `socket:[${inode}]`))
    return names.some((name) => wanted.has(readOrNull(() => readlinkSync(`${directory}/${name}`)) ?? ''))
  },

  describeProcess(pid) {
    const { parent = null, start } = readProcess(pid) ?? {}
    const uptime = readOrNull(() => readText('/proc/uptime', 'latin1'))
    // Ticks of which a second has a hundred on every system that Node runs on.
    const ageMs = start === undefined || uptime === null ? null : Number(uptime.split(' ')[0]) * 1_000 - Number(start) * 10
    const listensOn = listSockets(pid).flatMap(({ isListening, local }) => (isListening ? local : []))
    const cwd = readOrNull(() => readlinkSync(`/proc/${pid}/cwd`))
    return { ageMs, cwd, listensOn, parent, output: outputOf(pid, 1) ?? outputOf(pid, 2) }
  },

  listOpen(pid) {
    const links = linksOf(pid)
    const files = links.filter((link) => link.startsWith('/') && !link.startsWith('/dev/'))
    const sockets = listSockets(pid).map(({ isListening, local, remote }) =>
      isListening ? `listens on ${local}` : remote === null ? local : `${local} to ${remote}`,
    )
    return { files: [...new Set(files)], sockets: [...new Set(sockets)] }
  },

  readCommand(pid) {
    const line = readOrNull(() => readText(`/proc/${pid}/cmdline`)) ?? ''
    if (line === '') return []
    const words = line.replace(/\0$/, '').split('\0')
    const [title = '', ...rest] = words
    // Some write a title of several words over their arguments, and zeros over what is left of them.
    const isTitle = rest.every((word) => word === '') && (title.includes(' ') || rest.length > 1)
    return isTitle ? title.split(' ').filter(Boolean) : words
  },

  isOlder(start, than) {
    return BigInt(start) < BigInt(than)
  },
}

function readProcess(pid: number): ProcessEntry | null {
  const line = readOrNull(() => readLine(`/proc/${pid}/stat`))
  return line === null ? null : parseStat(line)
}

/** Longer than any line of a process: fifty numbers and a short name. */
const buffer = Buffer.alloc(4_096)

/** A look at all processes reads hundreds of them: without the size that a file of procfs does not have, and a buffer for each. */
function readLine(path: string): string {
  const descriptor = openSync(path, 'r')
  try {
    return buffer.toString('latin1', 0, readSync(descriptor, buffer))
  } finally {
    closeSync(descriptor)
  }
}

/** A regular file that a descriptor leads to. */
function outputOf(pid: number, descriptor: number): { path: string; readable: string } | null {
  const readable = `/proc/${pid}/fd/${descriptor}`
  const path = readOrNull(() => (statSync(readable).isFile() ? readlinkSync(readable) : null))
  return path === null ? null : { path, readable }
}

/** Where the descriptors of a process lead to. */
function linksOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`
  const names = readOrNull(() => readdirSync(directory)) ?? []
  return names.flatMap((name) => readOrNull(() => readlinkSync(`${directory}/${name}`)) ?? [])
}

interface Socket {
  readonly local: string
  /** Null for one that has no other end, or whose other end has no name. */
  readonly remote: string | null
  readonly isListening: boolean
}

/** The sockets of a process that have a name. */
function listSockets(pid: number): Socket[] {
  const links = new Set(linksOf(pid))
  const isOwn = (inode: string | undefined) => links.has(`socket:[${inode}]`)
  const linesOf = (table: string) => (readOrNull(() => readText(`/proc/net/${table}`, 'latin1')) ?? '').split('\n').slice(1)
  const tcp = ['tcp', 'tcp6'].flatMap(linesOf).flatMap((line) => {
    const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/\s+/)
    return isOwn(inode) ? { local: addressOf(local), remote: addressOf(remote), isListening: state === '0A' } : []
  })
  const unix = linesOf('unix').flatMap((line) => {
    // Num, RefCount, Protocol, Flags (10000 listens), Type, St, Inode, Path.
    const [, , , flags, , , inode, path] = line.trim().split(/\s+/)
    return isOwn(inode) && path !== undefined ? { local: path, remote: null, isListening: flags === '00010000' } : []
  })
  return [...tcp, ...unix]
}

/** `0100007F:1F90` is 127.0.0.1:8080: an address has its bytes in the order of the machine, in groups of four. */
function addressOf(local: string): string {
  const [address = '', port = ''] = local.split(':')
  const number = Number.parseInt(port, 16)
  if (address.length === 8) {
    const bytes = address.match(/../g)?.reverse() ?? []
    return `${bytes.map((byte) => Number.parseInt(byte, 16)).join('.')}:${number}`
  }
  return /^0+$/.test(address)
    ? `[::]:${number}`
    : address === '00000000000000000000000001000000'
      ? `[::1]:${number}`
      : `port ${number}`
}
