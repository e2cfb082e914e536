import { type Cell, standIn } from '@custody/core/worker'
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

/** Jest prints no frame whose line has this in it: it takes it for one of its own files. */
const HIDDEN = 'jest/build/'

function within(fn: AnyFunction, cell: () => Cell, isConcurrent: boolean): AnyFunction {
  // Jest says itself what is wrong with one that is no common function.
  if (fn.constructor == null) return fn
  const isGenerator = fn.constructor.name === 'GeneratorFunction'
  const wrapped = isGenerator ? steppingWithin(fn, cell, isConcurrent) : runningWithin(fn, cell, isConcurrent)
  // By its length Jest knows whether it takes a callback.
  return Object.defineProperties(wrapped, { length: { value: fn.length }, name: { value: HIDDEN } })
}

function runningWithin(fn: AnyFunction, cell: () => Cell, isConcurrent: boolean): AnyFunction {
  return function (...args) {
    const place = standIn(cell(), isConcurrent)
    // Bound: a function around it would have a frame of its own.
    return place === null ? fn.apply(this, args) : place.contexts.run(place.context, fn.bind(this, ...args))
  }
}

/** Jest asks a function whether it is a generator, and then drives it itself, step by step: each of them runs in the cell. */
function steppingWithin(fn: AnyFunction, cell: () => Cell, isConcurrent: boolean): AnyFunction {
  return function* (...args) {
    const own = cell()
    // Its body begins with its first step.
    const steps = fn.apply(this, args) as Generator
    for (let step = steps.next.bind(steps); ; ) {
      const place = standIn(own, isConcurrent)
      const { done, value } = place === null ? step() : place.contexts.run(place.context, step)
      if (done) return value
      try {
        const sent: unknown = yield value
        step = steps.next.bind(steps, sent)
      } catch (error) {
        step = steps.throw.bind(steps, error)
      }
    }
  }
}
