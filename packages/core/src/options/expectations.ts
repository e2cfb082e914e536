/** What options may be that are no choice and no switch, in the words of their user; `*` stands for any member of a list or a group. */
const expectations: Readonly<Record<string, string>> = {
  '': "an object, such as { leaks: 'warn' }",
  overrides: "a list, such as [{ files: 'src/**', leaks: 'warn' }]",
  'overrides.*': "an object, such as { files: 'src/**', leaks: 'warn' }",
  'overrides.*.files': "a glob or a list of globs, such as 'src/**'",
  allow: "a list, such as [{ argv: ['sleep', '**'], reason: 'why it may stay', until: 'run' }]",
  'allow.*': "an object, such as { argv: ['sleep', '**'], reason: 'why it may stay', until: 'run' }",
  'allow.*.argv': "a list of texts, such as ['sleep', '**']",
  'allow.*.argv.*': 'a text: the program, or a glob for an argument',
  'allow.*.reason': 'a text that says why it may stay',
  locators: "a list of globs, such as ['home/.greeter/*.json']",
  'locators.*': 'a glob',
  runtimes: "a list, such as [{ name: 'db', command: ['node', 'db.js'] }]",
  'runtimes.*': "an object, such as { name: 'db', command: ['node', 'db.js'] }",
  'runtimes.*.name': 'a text',
  'runtimes.*.command': "a list of program and arguments, such as ['node', 'db.js'], or a text",
  timeouts: 'an object, such as { graceMs: 5_000 }',
  'timeouts.*': 'a number of milliseconds, from 0 to 2_147_483_647',
  report: "an object, such as { json: 'custody.json' }",
  'report.*': 'a path',
}

/** Of one option, by the way to it. */
export function expectationOf(path: readonly string[]): string {
  const general = path.map((key) => (/^\d+$/.test(key) ? '*' : key))
  return expectations[general.join('.')] ?? expectations[[...general.slice(0, -1), '*'].join('.')] ?? 'something else'
}

/** Names in a row, as "'a', 'b' or 'c'". */
export function eitherOf(values: readonly unknown[]): string {
  const shown = values.map((value) => `'${value}'`)
  return [shown.slice(0, -1).join(', '), shown.at(-1)].filter(Boolean).join(' or ')
}
