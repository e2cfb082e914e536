import { existsSync, readlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { readText } from '../text-file.js'
import type { RuntimePlatform } from './index.js'

export const linux: RuntimePlatform = {
  socketPathBytes: 107,
  hasFileModes: true,
  hasUnixSockets: true,

  readStart(pid) {
    const start = readStartFrom(() => readText(`/proc/${pid}/stat`, 'latin1'))
    if (start === null && pid > 0 && !isListed(pid) && hasNumber(pid)) throw hidden(pid)
    return start
  },

  readOrigin() {
    return {
      boot: readOrNull(() => readText('/proc/sys/kernel/random/boot_id', 'latin1').trim()),
      pidns: readOrNull(() => readlinkSync('/proc/self/ns/pid')),
      timens: readOrNull(() => readlinkSync('/proc/self/ns/time')),
    }
  },
}

/** Whether /proc has this process. A zombie is in it. */
function isListed(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}

/**
 * Whether some process has this number, also one that /proc does not show: where it is mounted with `hidepid=2`, or is not there. It proves
 * nothing of who that is; only an end must not be claimed then.
 */
function hasNumber(pid: number): boolean {
  try {
    getPriority(pid)
    return true
  } catch (error) {
    // What is no number of a process is Node's own error; the system's is inside of another.
    const { info } = error as { info?: { code?: string } }
    return info !== undefined && info.code !== 'ESRCH'
  }
}

function hidden(pid: number): NodeJS.ErrnoException {
  return Object.assign(new Error(`EPERM: /proc does not show the process ${pid}`), { code: 'EPERM' })
}

/** The start time in what /proc/<pid>/stat holds. Only the absence of the file is an end: one that may not be read is of somebody. */
export function readStartFrom(read: () => string): string | null {
  try {
    return parseStat(read())?.start ?? null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
}

export interface ProcessStat {
  pid: number
  /** The executable's short name. */
  comm: string
  parent: number
  /** The process group. */
  group: number
  /** Clock ticks since boot. */
  start: string
}

/**
 * Reads a line of /proc/<pid>/stat. A process that has exited and only waits to be reaped is no process any more: null. Where only its
 * first thread has ended, by pthread_exit, the state is that of a zombie too, and the others go on.
 */
export function parseStat(line: string): ProcessStat | null {
  // The name is in parentheses and may hold any byte, spaces and parentheses among them.
  const open = line.indexOf('(')
  const close = line.lastIndexOf(')')
  const fields = line.slice(close + 2).split(' ')
  const [state, parent, group] = fields
  const [threads, start] = [fields[17], fields[19]]
  if (open < 0 || close < 0 || state === undefined || parent === undefined || start === undefined) return null
  if ((state === 'Z' || state === 'X') && Number(threads) <= 1) return null
  return {
    pid: Number(line.slice(0, open)),
    comm: line.slice(open + 1, close),
    parent: Number(parent),
    group: Number(group),
    start,
  }
}

/** Null when the kernel has no such file, no such process, or does not let us see it. Every other failure is a fault. */
export function readOrNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM' || code === 'ENOTDIR') return null
    throw error
  }
}
