// Puts the supervisor into one file, and the core into a few. `node scripts/bundle.mjs <directory>` does it where copies of the packages stand.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, buildSync } from 'esbuild'

const [directory = fileURLToPath(new URL('../packages', import.meta.url))] = process.argv.slice(2)
const packages = new URL(`${pathToFileURL(resolve(directory))}/`)

// One file starts as fast as an empty Node; what it imports would have to be found and read one by one.
buildSync({
  entryPoints: [fileURLToPath(new URL('core/dist/supervisor/main.js', packages))],
  outfile: fileURLToPath(new URL('core/dist/supervisor.cjs', packages)),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  logLevel: 'warning',
})

// Every run loads the core. Node finds and reads a few files in less than half the time of two hundred, and of zod only a part is needed.
const core = new URL('core/', packages)
const bundles = new URL('dist/bundle/', core)
// What a worker loads when a test asks for it.
const lazy = ['launch/exec', 'scope/inspect', 'scope/start-in-scope']
// What every worker loads.
const eager = ['adapter/worker', 'namespace/birth']
const inWorkers = [...eager, 'scope/in-use', ...lazy]
const nameOf = (entry) => `${entry.slice(entry.lastIndexOf('/') + 1)}.js`
const loadLazily = {
  name: 'load-lazily',
  setup(build) {
    const filter = new RegExp(`(?:${lazy.join('|')})\\.js$`)
    build.onResolve({ filter }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: `./${nameOf(path.replace(/\.js$/, ''))}`, external: true } : undefined,
    )
  },
}

async function bundle(entry, options) {
  const { metafile, outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`dist/${entry}.js`, core))],
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: ['execa', 'koffi', 'tmp-promise'],
    plugins: [loadLazily],
    minifySyntax: true,
    minifyWhitespace: true,
    write: false,
    metafile: true,
    logLevel: 'warning',
    ...options,
  })
  if (inWorkers.includes(entry)) refuseHeavy(entry, metafile)
  return outputFiles[0].text
}

function refuseHeavy(entry, { inputs, outputs }) {
  const imports = Object.values(outputs).flatMap((output) => output.imports)
  const isLater = ({ kind }) => kind === 'dynamic-import'
  if (entry === 'scope/in-use' && imports.some(isLater))
    throw new Error('What is compiled from a text must not import anything later.')
  const atOnce = imports.filter((each) => !isLater(each)).map(({ path }) => path)
  const heavy = [...Object.keys(inputs), ...atOnce].find((path) => /(^|\/)(execa|tmp-promise|zod)(\/|$)/.test(path))
  if (heavy !== undefined) throw new Error(`A worker must not load ${heavy}, as ${entry} does.`)
}

const inUse = await bundle('scope/in-use', {
  format: 'cjs',
  // A text that is CommonJS when it runs has no import.meta.
  banner: { js: 'const moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
  define: { 'import.meta.url': 'moduleUrl' },
})
rmSync(bundles, { recursive: true, force: true })
mkdirSync(bundles)
for (const entry of ['index', ...eager, ...lazy]) {
  const define = entry === 'adapter/worker' ? { IN_USE: JSON.stringify(inUse) } : {}
  writeFileSync(new URL(nameOf(entry), bundles), await bundle(entry, { format: 'esm', define }))
}
