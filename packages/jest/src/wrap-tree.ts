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
  const isGenerator = fn.constructor.name === 'GeneratorFunction'
  const wrapped = isGenerator ? steppingWithin(fn, cell, isConcurrent) : runningWithin(fn, cell, isConcurrent)
  // By its length Jest knows whether it takes a callback.
  return Object.defineProperty(wrapped, 'length', { value: fn.length })
}

function runningWithin(fn: AnyFunction, cell: () => Cell, isConcurrent: boolean): AnyFunction {
  return function (...args) {
    return runInCell(cell(), isConcurrent, () => fn.apply(this, args))
  }
}

/** Jest asks a function whether it is a generator, and then drives it itself, step by step: each of them runs in the cell. */
function steppingWithin(fn: AnyFunction, cell: () => Cell, isConcurrent: boolean): AnyFunction {
  return function* (...args) {
    const own = cell()
    const inCell = <T>(run: () => T): T => runInCell(own, isConcurrent, run)
    const steps = inCell(() => fn.apply(this, args) as Generator)
    for (let step = () => steps.next(); ; ) {
      const { done, value } = inCell(step)
      if (done) return value
      try {
        const sent: unknown = yield value
        step = () => steps.next(sent)
      } catch (error) {
        step = () => steps.throw(error)
      }
    }
  }
}
