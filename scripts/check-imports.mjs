// Fails when an import goes against the arrows of docs/how-it-works.md.
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What a package may import besides Node's built-ins and itself. */
const packages = {
  runtime: [],
  core: ['@custody/runtime', 'execa', 'fast-xml-builder', 'fastest-levenshtein', 'koffi', 'picomatch', 'tmp-promise', 'zod'],
  vitest: ['@custody/core', 'vitest'],
  jest: ['@custody/core', '@jest/', 'jest-message-util'],
}

/** The rooms of the core. Each imports from its own row and those before it. */
const rooms = [
  ['errors', 'options'],
  ['platform', 'witness'],
  ['namespace'],
  ['locators'],
  ['provenance'],
  ['tree'],
  ['retire'],
  ['supervisor', 'launch'],
  ['leaks'],
  ['report'],
  ['scope'],
  ['adapter'],
  ['index'],
]

/** What Jest loads as CommonJS in every worker, as `tsconfig.cjs.json` has it: Node's built-ins and each other only. */
const isLight = (path) => /^core\/src\/namespace\/(?!namespace\.ts|.*\.test\.ts)/.test(path)

const broken = []
for (const name of Object.keys(packages)) {
  for (const file of sourceFiles(join(root, 'packages', name, 'src'))) {
    for (const specifier of importsOf(readFileSync(file, 'utf8'))) checkImport(name, file, specifier)
  }
}
for (const line of broken) console.error(line)
console.log(broken.length === 0 ? 'imports: every arrow points the right way' : `imports: ${broken.length} wrong`)
process.exitCode = broken.length === 0 ? 0 : 1

function checkImport(name, file, specifier) {
  const path = relative(join(root, 'packages'), file)
  const isBuiltin = specifier.startsWith('node:')
  if (!isBuiltin && builtinModules.includes(specifier)) return broken.push(`${path}: write node:${specifier}`)
  if (isLight(path) && !isBuiltin && (!specifier.startsWith('./') || specifier === './namespace.js'))
    broken.push(`${path}: must not import ${specifier}`)
  if (isBuiltin) return
  if (specifier.startsWith('.')) {
    if (name === 'core') checkRoom(path, file, specifier)
    return
  }
  if (specifier.startsWith(`@custody/${name}`)) return
  const isAllowed = packages[name].some((allowed) =>
    allowed.endsWith('/') ? specifier.startsWith(allowed) : specifier === allowed || specifier.startsWith(`${allowed}/`),
  )
  if (!isAllowed) broken.push(`${path}: ${name} must not import ${specifier}`)
}

function checkRoom(path, file, specifier) {
  const src = join(root, 'packages/core/src')
  const [from, to] = [file, resolve(dirname(file), specifier)].map((at) => rankOf(relative(src, at)))
  if (to.rank > from.rank) broken.push(`${path}: the room ${from.room} must not import from ${to.room}`)
}

function rankOf(path) {
  const room = path.split('/')[0].replace(/\.[jt]s$/, '')
  const rank = rooms.findIndex((row) => row.includes(room))
  if (rank < 0) broken.push(`${path}: the room ${room} is not in the list of scripts/check-imports.mjs`)
  return { room, rank }
}

function importsOf(source) {
  const code = source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  const patterns = [/\bfrom\s+'([^']+)'/g, /\bimport\s+'([^']+)'/g, /\bimport\(\s*'([^']+)'/g, /\brequire\(\s*'([^']+)'/g]
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, specifier]) => specifier))
}

function sourceFiles(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.c?ts$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
}
