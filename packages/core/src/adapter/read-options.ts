import { checkDefinition, type Definition } from '../launch/definition.js'
import type { ResolvedOptions } from '../options/options.js'
import { parseOptions } from '../options/parse-options.js'
import { definitionOf } from '../options/plain-definition.js'

/**
 * Validates options, with the runtimes that they define, and fills in the defaults. In the main process only.
 * @throws CUSTODY_INVALID_OPTION which names the option and what it may be
 */
export function readOptions(options: unknown): ResolvedOptions {
  const resolved = parseOptions(options)
  for (const runtime of resolved.runtimes) checkDefinition(definitionOf(runtime) as Definition)
  return resolved
}
