import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { appendLines } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Allowance } from '../options/options.js'

/** What goes on although it was born in the run, as a test or a file has said it. */
export type Exemption =
  /** Whatever was born there, and these. */
  | { readonly type: 'scope'; readonly scope: NamespaceId; readonly known: readonly Identity[] }
  /** What was born there and fits. */
  | { readonly type: 'allowed'; readonly scope: NamespaceId; readonly allowance: Allowance }
  | { readonly type: 'processes'; readonly known: readonly Identity[] }

export const EXEMPTIONS_FILE = 'exempt.jsonl'

/** Written down by whoever has heard of it: who ends the run may be anybody, and have nobody left to ask. */
export function writeExemption(runDirectory: string, exemption: Exemption): void {
  appendLines(join(runDirectory, EXEMPTIONS_FILE), [JSON.stringify(exemption)])
}
