import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NamespaceId } from '../namespace/namespace-id.js'
import { enableNative } from '../platform/index.js'
import type { ProofContext } from '../provenance/prove.js'
import type { RunHandle } from './run-handle.js'
import { timeLimits } from './time-limits.js'

/** What a proof needs to know of a scope. */
export function proofContextOf(run: RunHandle, scope: NamespaceId): ProofContext {
  const from = () => [fileURLToPath(import.meta.url), join(run.root, 'package.json')]
  return {
    ...{ run, scope, proofMs: timeLimits(run.options).proofMs },
    findNative: () => (run.mostLevel === 0 ? null : enableNative(from())),
  }
}
