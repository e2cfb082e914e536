import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { hasCode, isObject, NAMESPACE_VARIABLE, parseJson, readText } from '@custody/runtime/internals'
import type { Allowance } from '../options/options.js'
import { type InitialVariable, platform } from '../platform/index.js'
import { isBornIn } from '../provenance/own-processes.js'
import { findAllowance } from '../tree/allowance.js'
import { type Birthmark, markOfFamilies } from '../tree/birthmark.js'
import { isCommonHelper } from '../tree/common-helpers.js'
import { EXEMPTIONS_FILE, type Exemption } from './write-exemption.js'

/** What was written down so far. */
export function readExemptions(runDirectory: string): Exemption[] {
  try {
    const lines = readText(join(runDirectory, EXEMPTIONS_FILE)).split('\n').map(parseJson)
    return lines.filter(isObject) as unknown as Exemption[]
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Those scopes of which nothing is ended. */
export function exemptScopes(exemptions: readonly Exemption[]): Birthmark[] {
  return exemptions.flatMap((each) => (each.type === 'scope' ? [{ namespace: each.scope, files: [], known: each.known }] : []))
}

/** What all tests of a run may leave. */
export interface Exempting {
  readonly allow: readonly Allowance[]
  readonly commonHelpers: boolean
}

/** Those of the found that no signal may go to, nor to what descends from them. */
export function exemptAmong(
  found: readonly Identity[],
  { allow, commonHelpers }: Exempting,
  exemptions: readonly Exemption[],
): Birthmark {
  const processes = exemptions.flatMap((each) => (each.type === 'processes' ? each.known : []))
  const allowed = found.filter((identity) => {
    const command = platform.readCommand(identity.pid)
    const scoped = exemptions.flatMap((each) =>
      each.type === 'allowed' && isBornIn(each.scope, namespaceOf(identity)) ? each.allowance : [],
    )
    const allowance = findAllowance(command, [...allow, ...scoped])
    return (commonHelpers && isCommonHelper(command)) || (allowance !== null && allowance.until !== 'run')
  })
  return markOfFamilies([...processes, ...allowed])
}

function namespaceOf({ pid }: Identity): InitialVariable {
  return platform.readInitialVariable(pid, NAMESPACE_VARIABLE)
}
