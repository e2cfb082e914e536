import { createRequire } from 'node:module'
import type * as MessageUtil from 'jest-message-util'
import { resolveFromJest } from './resolve-from-jest.cjs'

/** The project's own, which prints as its Jest does. */
export function messageUtil(rootDir: string): typeof MessageUtil {
  const circus = resolveFromJest('jest-circus/package.json', rootDir)
  return createRequire(circus)('jest-message-util') as typeof MessageUtil
}
