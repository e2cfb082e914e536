import { expect, test } from 'vitest'
import { stackOfSite } from './stack-of-site.js'

test("leads to the user's own line", () => {
  const stack = [
    'Error',
    '    at markAsynchronous (/x/node_modules/@custody/core/dist/namespace/birth.js:1:1)',
    '    at node:internal/child_process:1:1',
    '    at spawn (node:child_process:1:1)',
    '    at start (/project/node_modules/execa/lib/x.js:1:1)',
    '    at /project/a.test.ts:14:3',
  ].join('\n')
  expect(stackOfSite({ stack })).toBe('    at /project/a.test.ts:14:3')
})

test('is empty when a user has replaced how stacks are made', () => {
  expect(stackOfSite({ stack: [{}] as unknown as string })).toBe('')
  expect(stackOfSite(undefined)).toBe('')
})
