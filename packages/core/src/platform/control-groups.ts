import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, readOrNull, readText, writeText } from '@custody/runtime/internals'

/**
 * The control groups of a run, on Linux where version 2 is there and this user may write to it: one for all that the run's supervisor
 * starts, which every descendant inherits whatever it does, and in it one for each runtime.
 */
export class ControlGroups {
  readonly path: string
  readonly #outside: string
  readonly #dropped = new Set<string>()
  #inside: string

  private constructor(path: string, outside: string) {
    this.path = path
    this.#outside = outside
    this.#inside = outside
  }

  /** Makes the group of a run. Null where that is not to be had. */
  static open(run: string): ControlGroups | null {
    const outside = ownGroup()
    const path = groupOfRun(run)
    if (outside === null || path === null) return null
    try {
      mkdirSync(path)
      const groups = new ControlGroups(path, outside)
      if (groups.#move(path)) return groups
      remove(path)
      return null
    } catch (error) {
      if (isRefused(error)) return null
      throw error
    }
  }

  /**
   * Moves this process into the group of a runtime, so that what it starts now is born there. It stays until the next one, which costs
   * nobody anything: the kernel takes some milliseconds for a move.
   * @returns the group's path, or null where it cannot be had: then what is started is in the run's alone
   */
  enter(id: string): string | null {
    const path = this.groupOf(id)
    try {
      mkdirSync(path, { recursive: true })
    } catch (error) {
      if (isRefused(error)) return null
      throw error
    }
    return this.#move(path) ? path : null
  }

  groupOf(id: string): string {
    return join(this.path, nameOf(id))
  }

  /** Notes that the group of a runtime is not needed any more. */
  drop(id: string): void {
    this.#dropped.add(this.groupOf(id))
  }

  /** Removes those that are not needed any more, if nobody is left in them. It may take some milliseconds, so nobody waits for it. */
  clean(): void {
    if (this.#dropped.has(this.#inside)) this.#move(this.path)
    for (const path of this.#dropped) remove(path)
    this.#dropped.clear()
  }

  /** Leaves them, and removes those in which nobody is left. */
  leave(): void {
    this.#move(this.#outside)
    removeGroups(this.path)
  }

  #move(path: string): boolean {
    try {
      writeText(join(path, 'cgroup.procs'), String(process.pid))
      this.#inside = path
      return true
    } catch (error) {
      if (isRefused(error)) return false
      throw error
    }
  }
}

/** The group that a run's supervisor has made, or would make: below that of this process. Null without version 2. */
export function groupOfRun(run: string): string | null {
  const outside = ownGroup()
  return outside === null ? null : join(outside, `custody-${nameOf(run)}`)
}

/** Whether a path, from a record of a run, is that of its group: by its name, which no other has. */
export function isGroupOf(path: string, run: string): boolean {
  return path.endsWith(`/custody-${nameOf(run)}`)
}

/** The processes in a group and those below it. Empty when it is not there. */
export function membersOf(path: string): number[] {
  return groupsBelow(path).flatMap((group) => {
    return readMembers(group).split('\n').filter(Boolean).map(Number)
  })
}

/** Removes a group and those below it, as far as nobody is left in them. */
export function removeGroups(path: string): void {
  for (const group of groupsBelow(path).reverse()) remove(group)
}

function groupsBelow(path: string): string[] {
  const entries = readOrNull(() => readdirSync(path, { withFileTypes: true }))
  if (entries === null) return []
  return [path, ...entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => groupsBelow(join(path, name)))]
}

function readMembers(group: string): string {
  try {
    return readOrNull(() => readText(join(group, 'cgroup.procs'), 'latin1')) ?? ''
  } catch (error) {
    // Removed between the look and the read; or one for threads, whose processes are listed elsewhere.
    if (hasCode(error, 'ENODEV') || hasCode(error, 'EOPNOTSUPP')) return ''
    throw error
  }
}

/** Where this process is, in the file system of version 2. */
function ownGroup(): string | null {
  const own = readOrNull(() => readText('/proc/self/cgroup'))
  const within = own
    ?.split('\n')
    .find((line) => line.startsWith('0::'))
    ?.slice('0::'.length)
  // Fields 4 and 5: which part of it is mounted, and where; its kind comes after the dash.
  const mounts = readOrNull(() => readText('/proc/self/mountinfo')) ?? ''
  const mount = mounts
    .split('\n')
    .find((line) => / - cgroup2 /.test(line))
    ?.split(' ')
  const [root, point] = [mount?.[3], mount?.[4]]
  if (within === undefined || root === undefined || point === undefined || !within.startsWith(root)) return null
  return join(point, within.slice(root.length))
}

/** Names in a control group are short and have no slashes; the last digits of an id are its own. */
function nameOf(id: string): string {
  return id.slice(-200)
}

function remove(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    // Never made, or somebody is still in it: then its name leads to them.
    if (!isRefused(error)) throw error
  }
}

function isRefused(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EOPNOTSUPP', 'EEXIST', 'ENOTEMPTY', 'ENODEV', 'EBUSY', 'EAGAIN'].some((code) =>
    hasCode(error, code),
  )
}
