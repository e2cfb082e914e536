import { CustodyError } from '@custody/runtime/internals'
import type { Definition } from '../launch/definition.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { NeededRuntime } from '../options/start-spec.js'

/** What a runtime can end with, from the one that ends first on. */
const WIDTHS = ['test', 'file', 'worker', 'run'] as const

export type AnyWidth = (typeof WIDTHS)[number]

/** What a runtime ends with, by the namespace in which it was started. */
export function widthOf({ instance }: NeededRuntime, run: NamespaceId): AnyWidth {
  const [owner = '', next = ''] = instance.slice(run.length + 1).split('.')
  if (owner === 'shared') return 'run'
  if (owner.startsWith('w')) return 'worker'
  return next.startsWith('r') ? 'file' : 'test'
}

/**
 * What a runtime needs must not end before it.
 * @throws CUSTODY_INVALID_OPTION which names both
 */
export function assertOutlives(need: { readonly name: string }, width: AnyWidth, by: Definition): void {
  if (WIDTHS.indexOf(width) >= WIDTHS.indexOf(by.scope)) return
  const observed = `"${by.name}" is for ${describe(by.scope)}, and needs "${need.name}", which is for ${describe(width)}`
  throw new CustodyError('CUSTODY_INVALID_OPTION', `Could not share runtime "${by.name}": ${observed}.`, {
    hint: `give "${need.name}" the scope '${by.scope}', or "${by.name}" a narrower one.`,
    facts: { option: 'needs', name: by.name, needs: need.name },
  })
}

function describe(width: AnyWidth): string {
  return width === 'run' ? 'the run' : `one ${width}`
}
