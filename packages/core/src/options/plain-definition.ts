/** A definition of the option `runtimes` as plain data, which travels to workers. */
export interface PlainDefinition {
  readonly name: string
  readonly eager: boolean
  /** The rest of it, as JSON; regular expressions as their source and flags. */
  readonly json: string
}

/** Whether a definition can be sent to workers as it is. */
export function isPlain(definition: object): boolean {
  try {
    const text = JSON.stringify(definition, (key, value: unknown) => {
      if (typeof value === 'function' || typeof value === 'bigint' || key === 'needs') throw new TypeError(key)
      return value
    })
    return text !== undefined
  } catch {
    // It has a function, or refers to itself.
    return false
  }
}

const PATTERN = '@custody/pattern'

/** @param definition without functions: they cannot be sent */
export function plainOf({ eager, ...definition }: { readonly name: string; readonly eager: boolean }): PlainDefinition {
  const json = JSON.stringify(definition, (_key, value: unknown) =>
    value instanceof RegExp ? { [PATTERN]: [value.source, value.flags] } : value,
  )
  return { name: definition.name, eager, json }
}

/** The definition again. What was started before all files outlives them all, in watch mode too. */
export function definitionOf({ eager, json }: PlainDefinition): unknown {
  const definition = JSON.parse(json, (_key, value: unknown) => {
    const pattern = (value as Record<string, [string, string]> | null)?.[PATTERN]
    return Array.isArray(pattern) ? new RegExp(...pattern) : value
  }) as object
  return { scope: 'run', ...definition, ...(eager && { keepAcrossReruns: true }) }
}
