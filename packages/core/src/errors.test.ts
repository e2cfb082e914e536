import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { errorCodes } from './errors.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')

/** Environment variables with the same beginning. */
const variables = [
  'CUSTODY_BASELINE',
  'CUSTODY_LEAKS',
  'CUSTODY_LEVEL',
  'CUSTODY_LOGS',
  'CUSTODY_NAMESPACE',
  'CUSTODY_WITNESS',
  'CUSTODY_RUN',
]

test('the page of errors has one heading for each code, and no other', () => {
  const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, title]) => title)
  expect(headings.toSorted()).toEqual(errorCodes.toSorted())
})

test('the page says of each code what it means, what was observed, and what to do', () => {
  for (const code of errorCodes) {
    const [, section = ''] = page.split(`### ${code}\n`)
    expect(section, code).toMatch(/^\n[A-Z`][^#]+\n- \*\*Observed\*\*: [^#]+\n- \*\*Do\*\*: [^#]+/)
  }
})

test('every code that the sources name is in the table', () => {
  const unknown = sources().flatMap(({ name, text }) =>
    codesIn(text)
      .filter((code) => !errorCodes.includes(code))
      .map((code) => `${name}: ${code}`),
  )
  expect(unknown).toEqual([])
})

test('every code of the table is given to an error', () => {
  const raised = new Set(sources().flatMap(({ text }) => codesIn(withoutComparisons(text))))
  expect(errorCodes.filter((code) => !raised.has(code))).toEqual([])
})

/** The sources of all packages, without their tests and the tables of codes. */
function sources(): { name: string; text: string }[] {
  const packages = join(root, 'packages')
  return readdirSync(packages)
    .map((name) => join(packages, name, 'src'))
    .flatMap((directory) => readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name)))
    .filter((path) => /\.c?ts$/.test(path) && !/\.test\.ts$|src.errors\.ts$/.test(path))
    .map((path) => ({ name: relative(root, path), text: readFileSync(path, 'utf8') }))
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/'(CUSTODY_[A-Z_]+)'/g)].map(([, code = '']) => code).filter((code) => !variables.includes(code))
}

/** To ask for a code is not to use it. */
function withoutComparisons(text: string): string {
  return text.replace(/hasCode\([^)]*\)|[!=]== '[A-Z_]+'|<'[A-Z_]+'>/g, '')
}
