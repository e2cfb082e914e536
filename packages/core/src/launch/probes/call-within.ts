import { type Context, createContext, Script } from 'node:vm'

const script = new Script('call()')
let context: Context | undefined

/**
 * Calls a function that only computes, and interrupts it when that takes too long: a regular expression that backtracks without end
 * never comes back by itself, and holds up its whole thread.
 * @throws {Error} ERR_SCRIPT_EXECUTION_TIMEOUT
 */
export function callWithin<T>(ms: number, call: () => T): T {
  context ??= createContext({})
  let result!: T
  context['call'] = () => {
    result = call()
  }
  try {
    script.runInContext(context, { timeout: ms })
    return result
  } finally {
    context['call'] = undefined
  }
}
