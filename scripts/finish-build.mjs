// What tsc does not write: the mark that tells Node that a folder holds CommonJS, the supervisor as one file, and the core as a few.
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, buildSync } from 'esbuild'

const packages = new URL('../packages/', import.meta.url)

for (const name of ['runtime', 'core']) {
  const folder = new URL(`${name}/dist/cjs/`, packages)
  if (existsSync(folder)) writeFileSync(new URL('package.json', folder), '{ "type": "commonjs" }\n')
}

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
// What a worker needs at the end of a test is in its file, and run when it is needed: by then a test may have mocked the file system. What
// starts runtimes is loaded when a test asks for it.
const core = new URL('core/', packages)
const bundle = new URL('dist/bundle/', core)
const lazy = ['launch/exec', 'scope/inspect', 'scope/start-in-scope']
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
rmSync(bundle, { recursive: true, force: true })
for (const entry of ['index', 'adapter/worker', 'namespace/birth', ...lazy]) {
  await build({
    entryPoints: [fileURLToPath(new URL(`dist/${entry}.js`, core))],
    outfile: fileURLToPath(new URL(nameOf(entry), bundle)),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['execa', 'koffi', 'tmp-promise'],
    plugins: [loadLazily],
    logLevel: 'warning',
  })
}
for (const name of ['fastest-levenshtein', 'picomatch', 'zod']) {
  const [license] = ['LICENSE', 'LICENSE.md'].map((file) => new URL(`node_modules/${name}/${file}`, core)).filter(existsSync)
  copyFileSync(license, new URL(`${name}.LICENSE`, bundle))
}
