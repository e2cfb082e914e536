import type { AnyFunction } from './be-born.js'

/** The replacement, with the name, length and properties of the original: spies and feature checks look at these. */
export function alike<F extends AnyFunction>(original: F, replacement: AnyFunction): F {
  return Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original)) as F
}
