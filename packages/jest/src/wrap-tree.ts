import { type Cell, runInCell } from '@custody/core/worker'
import type { Circus } from '@jest/types'

export interface CellSource {
  cellOf(test: Circus.TestEntry): Cell
  readonly currentCell: Cell
  readonly fileCell: Cell
}

// biome-ignore lint/suspicious/noExplicitAny: a test's function may have any signature
type AnyFunction = (this: any, ...args: any[]) => any

/** Has every hook and every body of a file run in the cell that it belongs to, also when several run at once. */
export function wrapTree(block: Circus.DescribeBlock, source: CellSource): void {
  for (const hook of block.hooks) {
    const isForAll = hook.type === 'beforeAll' || hook.type === 'afterAll'
    const cell = () => (isForAll ? source.fileCell : source.currentCell)
    hook.fn = within(hook.fn as AnyFunction, cell, false) as Circus.HookFn
  }
  for (const child of block.children) {
    if (child.type === 'describeBlock') wrapTree(child, source)
    else if (child.fn) child.fn = within(child.fn as AnyFunction, () => source.cellOf(child), child.concurrent) as Circus.TestFn
  }
}

function within(fn: AnyFunction, cell: () => Cell, isConcurrent: boolean): AnyFunction {
  // Jest drives a generator itself, step by step, and asks a function by its class whether it is one.
  if (fn.constructor.name === 'GeneratorFunction') return fn
  const wrapped: AnyFunction = function (...args) {
    return runInCell(cell(), isConcurrent, () => fn.apply(this, args))
  }
  // By its length Jest knows whether it takes a callback.
  return Object.defineProperty(wrapped, 'length', { value: fn.length })
}
