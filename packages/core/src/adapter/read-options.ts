import { CustodyError } from '@custody/runtime/internals'
import { inTheNameOf } from '../launch/check-spec.js'
import { checkDefinition, type Definition } from '../launch/definition.js'
import type { ResolvedOptions } from '../options/options.js'
import { parseOptions } from '../options/parse-options.js'
import { definitionOf } from '../options/plain-definition.js'
import { urlVariableOf } from './eager-runtimes.js'

/**
 * Validates options, with the runtimes that they define, and fills in the defaults. In the main process only.
 * @throws CUSTODY_INVALID_OPTION which names the option and what it may be
 */
export function readOptions(options: unknown): ResolvedOptions {
  const resolved = parseOptions(options)
  const definitions = resolved.runtimes.map((runtime) => ({ ...runtime, definition: definitionOf(runtime) as Definition }))
  for (const { definition, name } of definitions) {
    inTheNameOf(`Could not read the option runtimes: "${name}"`, () => checkDefinition(definition))
    if (definition.scope !== 'run') throw wrong(name, `its scope is '${definition.scope}'`, 'leave scope out: it is for the run.')
  }
  const variables = definitions.filter(({ eager }) => eager).map(({ name }) => urlVariableOf(name))
  const twice = variables.find((variable, at) => variables.indexOf(variable) !== at)
  if (twice !== undefined) throw wrong(twice, 'two eager runtimes have this variable', 'give one of them another name.')
  return resolved
}

function wrong(name: string, observed: string, hint: string): CustodyError {
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not read the option runtimes: "${name}": ${observed}.`, {
    hint,
    facts: { option: 'runtimes', name },
  })
}
