import { expect, test } from 'vitest'
import type { Allowance } from '../options/options.js'
import { findAllowance } from './allowance.js'

const allowing = (...argv: [string, ...string[]]): Allowance[] => [{ argv, reason: argv.join(' '), until: 'run' }]

test.each<[string, string[], [string, ...string[]]]>([
  ['the same words', ['node', 'server.js'], ['node', 'server.js']],
  ['a program with its path', ['/usr/bin/node', 'server.js'], ['node', 'server.js']],
  ['a glob for an argument', ['node', 'dist/server.js'], ['node', '**/server.js']],
  ['whatever follows', ['node', 'server.js', '--port', '1'], ['node', 'server.js', '**']],
  ['nothing that follows', ['node', 'server.js'], ['node', 'server.js', '**']],
  ['any command', ['node', 'server.js'], ['**']],
  ['an empty argument', ['node', ''], ['node', '']],
  ['a word that is a glob to the letter', ['sh', '-c', 'a*'], ['sh', '-c', 'a*']],
])('fits %s', (_, command, argv) => expect(findAllowance(command, allowing(...argv))).toMatchObject({ argv }))

test.each<[string, string[], [string, ...string[]]]>([
  ['another program', ['bun', 'server.js'], ['node', 'server.js']],
  ['a program that only ends like it', ['mynode', 'server.js'], ['node', 'server.js']],
  ['another argument', ['node', 'other.js'], ['node', 'server.js']],
  ['more arguments', ['node', 'server.js', '--port'], ['node', 'server.js']],
  ['an argument where there is an empty one', ['node', 'x'], ['node', '']],
  ['fewer arguments', ['node'], ['node', 'server.js', '**']],
  ['no command line', [], ['node']],
])('does not fit %s', (_, command, argv) => expect(findAllowance(command, allowing(...argv))).toBe(null))

test('is the first that fits', () => {
  const all = [...allowing('bun'), ...allowing('node', '**'), ...allowing('node', 'a.js')]
  expect(findAllowance(['node', 'a.js'], all)).toBe(all[1])
})
