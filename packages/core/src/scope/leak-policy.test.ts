import { expect, test } from 'vitest'
import { leakPolicyOf } from './leak-policy.js'
import type { Scope } from './scope.js'

const root = '/home/me/app (copy)'

/** The policy of a file of the project with one override. */
const policyOf = (path: string, files: readonly string[]) =>
  leakPolicyOf({
    file: null,
    path,
    pathInProject: path,
    books: { leaks: null },
    run: { root, options: { leaks: 'fail', overrides: [{ files, leaks: 'warn' }] } },
  } as unknown as Scope)

test.each([
  ['src/a.test.ts', 'src/**'],
  ['src/a.test.ts', './src/**'],
  ['src/a.test.ts', `${root}/src/**`],
  ['src/.hidden/a.test.ts', '/home/**/a.test.ts'],
  ['../shared/a.test.ts', '/home/me/shared/*'],
])('an override holds for %s, which %s fits', (path, glob) => {
  expect(policyOf(path, ['other/**', glob])).toBe('warn')
})

test.each([
  ['src/a.test.ts', 'test/**'],
  ['src/a.test.ts', `${root}/test/**`],
  ['src/a.test.ts', '/src/**'],
])('an override does not hold for %s, which %s does not fit', (path, glob) => {
  expect(policyOf(path, ['other/**', glob])).toBe('fail')
})
