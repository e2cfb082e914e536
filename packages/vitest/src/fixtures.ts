import { birthState, type Cell, runInCell, type Scope } from '@custody/core/worker'

type LongScope = 'file' | 'worker'

const PLACED = Symbol.for('@custody/vitest/placed.1')

// biome-ignore lint/suspicious/noExplicitAny: a fixture's function may have any signature
type AnyFunction = (...args: any[]) => any

/** A test function of Vitest, as far as it makes others with fixtures. */
export interface Extensible {
  extend?: AnyFunction
}

/**
 * Has fixtures that outlive a test start what they start in their own scope: Vitest sets them up inside of the first test that uses them,
 * and it would be that test's.
 */
export function placeFixtures(test: Extensible): void {
  const { extend } = test
  // Two copies of this package may meet the same Vitest.
  if (extend === undefined || Object.hasOwn(extend, PLACED)) return
  test.extend = Object.assign(placingExtend(extend), { [PLACED]: true })
}

function placingExtend(extend: AnyFunction): AnyFunction {
  return function (this: unknown, ...args: unknown[]) {
    const extended = extend.apply(this, placed(args)) as Extensible
    placeFixtures(extended)
    return extended
  }
}

/** The arguments of `extend`: an object of fixtures, or the name, the options and the function of one. */
function placed(args: readonly unknown[]): unknown[] {
  const [first, options, fixture] = args
  if (typeof first === 'string') {
    const scope = longScopeOf(options)
    return scope !== null && typeof fixture === 'function' ? [first, options, place(fixture as AnyFunction, scope)] : [...args]
  }
  if (typeof first !== 'object' || first === null) return [...args]
  const fixtures = Object.entries(first).map(([name, value]: [string, unknown]) => {
    const scope = Array.isArray(value) ? longScopeOf(value[1]) : null
    if (scope === null || !Array.isArray(value) || typeof value[0] !== 'function') return [name, value]
    return [name, [place(value[0] as AnyFunction, scope), ...value.slice(1)]]
  })
  return [Object.fromEntries(fixtures), ...args.slice(1)]
}

function longScopeOf(options: unknown): LongScope | null {
  const { scope } = (options ?? {}) as { scope?: unknown }
  return scope === 'file' || scope === 'worker' ? scope : null
}

function place(fixture: AnyFunction, scope: LongScope): AnyFunction {
  const inScope = <T>(run: () => T): T => {
    const cell = cellOf(scope)
    return cell === null ? run() : runInCell(cell, true, run)
  }
  const wrapped: AnyFunction = (context: unknown, second: unknown, ...rest: unknown[]) =>
    inScope(() => fixture(context, withCleanup(second, inScope), ...rest))
  // Vitest reads there which fixtures it asks for.
  wrapped.toString = () => fixture.toString()
  return wrapped
}

/** Of a fixture that gives its value back, its clean-up is registered by a function beside the context. */
function withCleanup(second: unknown, inScope: <T>(run: () => T) => T): unknown {
  const { onCleanup } = (typeof second === 'object' && second !== null ? second : {}) as { onCleanup?: AnyFunction }
  if (typeof onCleanup !== 'function') return second
  return { ...(second as object), onCleanup: (cleanup: AnyFunction) => onCleanup(() => inScope(cleanup)) }
}

/** What such a fixture starts late is still its own. */
function cellOf(scope: LongScope): Cell | null {
  const file = birthState().file?.birth ?? null
  if (file === null) return null
  const birth = scope === 'file' ? file : (file.scope as Scope).openWide('worker').birth
  return { birth, countsOn: true, isOver: false }
}
