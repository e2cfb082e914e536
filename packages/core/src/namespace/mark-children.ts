import childProcess, { type ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { syncBuiltinESMExports } from 'node:module'
import { alike } from './alike.js'
import { type AnyFunction, beBorn } from './be-born.js'
import { type BornChild, birthState, VARIABLE } from './birth-state.js'
import { noteChild } from './born-children.js'
import { environmentWith } from './environment-with.js'
import { type BunSpawner, markBunChildren } from './mark-bun-children.js'
import { watchRef } from './watch-ref.js'

/** Puts the current namespace into the environment of each process that this thread starts. Once per thread; Node's `process.env` stays as it is. */
export function markChildren(): void {
  const state = birthState()
  if (state.isMarking) return
  state.isMarking = true
  const { Bun: bun } = globalThis as { Bun?: BunSpawner }
  if (bun !== undefined) return markBunChildren(bun)
  subscribe('child_process', (message) => markAsynchronous((message as { process: ChildProcess }).process))
  // The channel does not announce these three.
  childProcess.spawnSync = markSynchronous(childProcess.spawnSync, true)
  childProcess.execFileSync = markSynchronous(childProcess.execFileSync, true)
  childProcess.execSync = markSynchronous(childProcess.execSync, false)
  syncBuiltinESMExports()
}

interface RawSpawnOptions {
  detached?: boolean
  envPairs?: string[]
}

/** The channel speaks in the constructor, before the spawn: an own `spawn` on this one child adds the variable and is gone. */
function markAsynchronous(child: ChildProcess): void {
  const state = birthState()
  const born = beBorn(markAsynchronous)
  if (born === null) return
  const { birth, isLate, mark, site } = born
  const ref = state.hasUnseenStarts ? { hasRef: watchRef(child) } : {}
  const record: BornChild = { process: child, site, pid: null, isDetached: false, isLate, ...ref }
  noteChild(birth, record)
  const raw = child as unknown as { spawn(options: RawSpawnOptions): unknown }
  raw.spawn = (options) => {
    delete (child as { spawn?: unknown }).spawn
    record.isDetached = options?.detached === true
    const pairs = mark === null ? undefined : options?.envPairs
    if (Array.isArray(pairs)) {
      const at = pairs.findIndex((pair) => pair.startsWith(`${VARIABLE}=`))
      if (at < 0) pairs.push(`${VARIABLE}=${mark}`)
      else if (pairs[at] === `${VARIABLE}=${state.inherited}`) pairs[at] = `${VARIABLE}=${mark}`
    }
    const result = raw.spawn(options)
    record.pid = child.pid ?? null
    return result
  }
}

function markSynchronous<F extends AnyFunction>(original: F, hasArguments: boolean): F {
  const marked = function (this: unknown, ...args: unknown[]): unknown {
    const mark = beBorn(marked)?.mark ?? null
    return mark === null ? original.apply(this, args) : original.apply(this, withMark(args, hasArguments, mark))
  }
  return alike(original, marked)
}

/** The arguments with a marked environment, or as they are when they are wrong: Node then says so itself. */
function withMark(args: readonly unknown[], hasArguments: boolean, mark: string): unknown[] {
  const at = hasArguments && (Array.isArray(args[1]) || (args[1] == null && args.length > 2)) ? 2 : 1
  const options = args[at]
  if (options !== undefined && options !== null && typeof options !== 'object') return [...args]
  // As Node does, which takes its own for an empty text as well.
  const env = environmentWith(mark, (options as { env?: NodeJS.ProcessEnv } | null | undefined)?.env || process.env)
  const result = [...args]
  while (result.length < at) result.push(undefined)
  result[at] = { ...(options as object | null | undefined), env }
  return result
}
