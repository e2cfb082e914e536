import { birthState, VARIABLE } from './birth-state.js'

/** An environment with a mark, if it has none of its own. */
export function environmentWith(mark: string, given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  // Node takes inherited keys too.
  for (const key in given) env[key] = given[key]
  if (env[VARIABLE] === undefined || env[VARIABLE] === birthState().inherited) env[VARIABLE] = mark
  return env
}
