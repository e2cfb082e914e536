// What tsc does not write: the mark that tells Node that a folder holds CommonJS, and the supervisor as one file.
import { existsSync, writeFileSync } from 'node:fs'
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
