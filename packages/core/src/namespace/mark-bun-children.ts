import { alike } from './alike.js'
import { beBorn } from './be-born.js'
import { noteChild } from './born-children.js'
import { environmentWith } from './environment-with.js'
import { watchRef } from './watch-ref.js'

interface SpawnOptions {
  readonly detached?: boolean
  readonly env?: NodeJS.ProcessEnv
}

type SpawnArguments = [options: SpawnOptions] | [command: readonly string[], options?: SpawnOptions]

interface Subprocess {
  readonly pid: number
  readonly exitCode: number | null
  readonly signalCode: NodeJS.Signals | null
  ref(): void
  unref(): void
}

/** The part of the global `Bun` that starts processes. */
export interface BunSpawner {
  spawn(...args: SpawnArguments): Subprocess
  spawnSync(...args: SpawnArguments): unknown
}

/**
 * Marks what Bun starts. It announces no children, and named imports of its built-in modules never change; but `node:child_process` looks
 * these two functions up each time, as tests do that call them themselves.
 */
export function markBunChildren(bun: BunSpawner): void {
  const { spawn, spawnSync } = bun
  bun.spawnSync = alike(spawnSync, function marked(...args: SpawnArguments): unknown {
    return spawnSync(...withMark(args, beBorn(marked)?.mark ?? null))
  })
  bun.spawn = alike(spawn, function marked(...args: SpawnArguments): Subprocess {
    const born = beBorn(marked)
    const child = spawn(...withMark(args, born?.mark ?? null))
    if (born === null) return child
    const { birth, isLate, site } = born
    const isDetached = optionsOf(args)?.detached === true
    noteChild(birth, { process: child, site, pid: child.pid, isDetached, isLate, hasRef: watchRef(child) })
    return child
  })
}

function optionsOf(args: SpawnArguments): SpawnOptions | undefined {
  return (Array.isArray(args[0]) ? args[1] : args[0]) as SpawnOptions | undefined
}

function withMark(args: SpawnArguments, mark: string | null): SpawnArguments {
  const options = optionsOf(args)
  if (mark === null || (options !== undefined && typeof options !== 'object')) return args
  const marked = { ...options, env: environmentWith(mark, options?.env ?? process.env) }
  return Array.isArray(args[0]) ? [args[0], marked] : [marked]
}
