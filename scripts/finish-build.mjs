// What tsc does not write: the mark that tells Node that a folder holds CommonJS, the supervisor as one file, and the core as a few.
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

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
const core = new URL('core/', packages)
const bundle = new URL('dist/bundle/', core)
rmSync(bundle, { recursive: true, force: true })
buildSync({
  entryPoints: ['index', 'adapter/worker', 'namespace/birth'].map((entry) => ({
    in: fileURLToPath(new URL(`dist/${entry}.js`, core)),
    out: entry.slice(entry.lastIndexOf('/') + 1),
  })),
  outdir: fileURLToPath(bundle),
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['execa', 'fastest-levenshtein', 'koffi', 'picomatch', 'tmp-promise'],
  logLevel: 'warning',
})
copyFileSync(new URL('node_modules/zod/LICENSE', core), new URL('zod.LICENSE', bundle))
