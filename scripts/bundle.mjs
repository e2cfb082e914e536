// Puts the supervisor into one file, and the core into a few. `node scripts/bundle.mjs <directory>` does it where copies of the packages stand.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
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
// What every worker loads.
const eager = ['adapter/worker', 'namespace/birth']
// What a worker loads when a test starts something or asks for it: texts that it compiles itself.
const lazy = ['launch/exec', 'scope/in-use', 'scope/inspect', 'scope/start-in-scope']
const nameOf = (entry) => entry.slice(entry.lastIndexOf('/') + 1)
// A bundle never imports them: see scope/lazily.ts.
const leaveOut = {
  name: 'leave-out',
  setup(build) {
    const filter = new RegExp(`/(?:${lazy.map(nameOf).join('|')})\\.js$`)
    build.onResolve({ filter }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, namespace: 'left-out' } : undefined))
    build.onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: '' }))
  },
}
const shim = (name) => fileURLToPath(new URL(`${name}.mjs`, import.meta.url))
const metafiles = []

rmSync(bundles, { recursive: true, force: true })
mkdirSync(bundles)
for (const entry of ['index', ...eager]) {
  writeFileSync(
    new URL(`${nameOf(entry)}.js`, bundles),
    await bundle(entry, { format: 'esm', define: { IS_BUNDLED: 'true' }, inject: [shim('globals-kept')] }),
  )
}
for (const entry of lazy) {
  const text = await bundle(entry, {
    format: 'cjs',
    // A text that is CommonJS when it runs has no import.meta.
    banner: { js: 'const moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
    define: { 'import.meta.url': 'moduleUrl' },
    inject: [shim('globals-required')],
  })
  writeFileSync(new URL(`${nameOf(entry)}.cjs`, bundles), text)
}
writeFileSync(new URL('LICENSES.txt', bundles), licensesOf(metafiles.flatMap(({ inputs }) => Object.keys(inputs))))

async function bundle(entry, options) {
  const { metafile, outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`dist/${entry}.js`, core))],
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: ['koffi', 'tmp-promise'],
    plugins: [leaveOut],
    minifySyntax: true,
    minifyWhitespace: true,
    write: false,
    metafile: true,
    logLevel: 'warning',
    ...options,
  })
  metafiles.push(metafile)
  if (entry !== 'index') refuseHeavy(entry, metafile)
  return outputFiles[0].text
}

/** Of what is heavy a worker loads only execa, with the first command. */
function refuseHeavy(entry, { inputs, outputs }) {
  const imports = Object.values(outputs).flatMap((output) => output.imports)
  const isLater = ({ kind }) => kind === 'dynamic-import'
  if (lazy.includes(entry) && imports.some(isLater))
    throw new Error(`${entry} is compiled from a text, and must import nothing later.`)
  const loaded = [...Object.keys(inputs), ...imports.map(({ path }) => path)]
  const heavy = entry === 'launch/exec' ? ['tmp-promise', 'zod'] : ['execa', 'tmp-promise', 'zod']
  const found = loaded.find((path) => new RegExp(`(^|/)(${heavy.join('|')})(/|$)`).test(path))
  if (found !== undefined) throw new Error(`A worker must not load ${found}, as ${entry} does.`)
}

/** The licenses of the packages whose code is in the bundles. */
function licensesOf(paths) {
  const directories = new Set(paths.flatMap((path) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? []))
  const others = [...directories].filter((directory) => !directory.includes('/@custody/'))
  const texts = others.map((directory) => {
    const { name, version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
    const file = readdirSync(directory).find((each) => /^licen[cs]e(\.|$)/i.test(each))
    if (file === undefined) throw new Error(`${name} has no license file, and must not be bundled.`)
    return `${name} ${version}\n\n${readFileSync(join(directory, file), 'utf8').trim()}\n`
  })
  return texts.sort().join('\n---\n\n')
}
