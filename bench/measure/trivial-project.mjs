import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installCustody, link } from './install-custody.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const packages = {
  vitest: 'node_modules/vitest',
  jest: 'node_modules/jest',
  // Where Jest's own is: the floor extends it.
  'jest-environment-node': 'packages/jest/node_modules/jest-environment-node',
}

/** The command that runs the tests of a project and writes what became of them to `results.json`. */
export const commands = {
  vitest: ['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', '--reporter=json', '--outputFile.json=results.json'],
  jest: ['node_modules/jest/bin/jest.js', '--ci', '--json', '--outputFile=results.json'],
}

/**
 * Writes a project of trivial tests: it is bare, or has what a tool of this kind needs at the very least, which is the floor, or has
 * Custody.
 */
export function writeTrivialProject(directory, { contestant, files, runner, tests }) {
  for (const [name, path] of Object.entries(packages)) link(join(root, path), join(directory, 'node_modules', name))
  if (contestant === 'custody') installCustody(directory)
  const { [contestant]: config, environment, ending, imports } = runners[runner]
  const text = `${imports[contestant] ?? imports.bare}${trivialTests(tests / files)}`
  for (let file = 1; file <= files; file++) writeFileSync(join(directory, `trivial-${file}.check.${ending}`), text)
  writeFileSync(join(directory, 'package.json'), '{}')
  writeFileSync(join(directory, `${runner}.config.mjs`), config)
  if (environment !== undefined) writeFileSync(join(directory, 'environment.cjs'), environment)
}

export function trivialTests(count) {
  return Array.from({ length: count }, (_, at) => `test('is trivial, ${at}', () => {})\n`).join('')
}

const vitestOptions = `test: { include: ['*.check.mjs'] }`
const jestOptions = `testMatch: ['**/*.check.cjs'], transform: {}`
const runners = {
  vitest: {
    ending: 'mjs',
    imports: {
      bare: `import { test } from 'vitest'\n`,
      floor: `import { test as base } from 'vitest'
const test = base.extend({ nothing: [async ({}, use) => { await use() }, { auto: true }] })\n`,
    },
    bare: `export default { ${vitestOptions} }`,
    floor: `export default { ${vitestOptions} }`,
    custody: `import { custodyPlugin } from '@custody/vitest/plugin'
export default { plugins: [custodyPlugin()], ${vitestOptions} }`,
  },
  jest: {
    ending: 'cjs',
    imports: { bare: '' },
    environment: `const { TestEnvironment } = require('jest-environment-node')
module.exports = class extends TestEnvironment { handleTestEvent() {} }`,
    bare: `export default { ${jestOptions} }`,
    floor: `export default { ${jestOptions}, testEnvironment: './environment.cjs' }`,
    custody: `import { withCustody } from '@custody/jest/config'
export default withCustody({ ${jestOptions} })`,
  },
}
