import { readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CustodyError, hasCode, isInScope, type Locator, readLocator } from '@custody/runtime/internals'
import type { NamespaceId } from '../namespace/namespace-id.js'
import { walkGlob } from './walk-glob.js'

/** A locator as it was read at the capture. It is a claim: only a verdict makes it a runtime that may be retired. */
export interface CapturedLocator {
  readonly source: 'registry' | 'glob'
  /** Canonical: the parent resolved, the last part as it stands. */
  readonly path: string
  /** Null when it could not be read; `unreadable` says why then. */
  readonly locator: Locator | null
  readonly unreadable: string | null
}

/** An entry of the registry, and the namespace that its name states. */
export interface RegistryEntry extends CapturedLocator {
  readonly namespace: NamespaceId
}

/** Everything that the registry holds of one scope. An entry that goes away while it is read has left by itself. */
export function captureRegistry(runDirectory: string, scope: NamespaceId): RegistryEntry[] {
  const directory = join(runDirectory, 'registry')
  return list(directory).flatMap((name) => {
    const namespace = name.split('--')[0] ?? ''
    // A leading dot is a half-made entry.
    if (name.startsWith('.') || !isInScope(namespace, scope)) return []
    const captured = captureFile(join(directory, name), 'registry')
    return captured === null ? [] : [{ ...captured, namespace }]
  })
}

export interface GlobCapture {
  readonly locators: readonly CapturedLocator[]
  /** The globs whose walk was cut short: their rest was not looked at. */
  readonly cutShort: readonly string[]
}

/**
 * Everything that matches the globs.
 * @param base what a relative glob starts from; without it relative globs are left out
 */
export function captureGlobs(globs: readonly string[], base: string | null): GlobCapture {
  const locators: CapturedLocator[] = []
  const cutShort: string[] = []
  for (const glob of globs) {
    const walk = walkGlob(glob, base)
    if (walk.isCutShort) cutShort.push(glob)
    locators.push(...walk.paths.flatMap((path) => captureFile(path, 'glob') ?? []))
  }
  return { locators, cutShort }
}

/** Reads one locator now, and does not look at its file again. Null when there is none. */
export function captureFile(path: string, source: CapturedLocator['source']): CapturedLocator | null {
  const canonical = orNullIfMissing(() => join(realpathSync.native(dirname(path)), basename(path)))
  if (canonical === null) return null
  try {
    return { source, path: canonical, locator: readLocator(canonical), unreadable: null }
  } catch (error) {
    if (hasCode(error, 'CUSTODY_LOCATOR_MISSING')) return null
    if (!hasCode(error, 'CUSTODY_LOCATOR_INVALID')) throw error
    return { source, path: canonical, locator: null, unreadable: (error as { facts: { reason: string } }).facts.reason }
  }
}

function list(directory: string): string[] {
  const names = orNullIfMissing(() => readdirSync(directory))
  if (names !== null) return names
  throw new CustodyError('CUSTODY_REGISTRY_UNREADABLE', `Could not read the registry ${directory}: it is gone.`, {
    hint: 'see what removed it: nothing of this run can be accounted for without it.',
    facts: { directory },
  })
}

function orNullIfMissing<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}
