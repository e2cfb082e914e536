// What neither tsc nor the bundler writes: the mark that tells Node that a folder holds CommonJS, and the licenses of what was bundled.
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'

const packages = new URL('../packages/', import.meta.url)

for (const name of ['runtime', 'core']) {
  const folder = new URL(`${name}/dist/cjs/`, packages)
  if (existsSync(folder)) writeFileSync(new URL('package.json', folder), '{ "type": "commonjs" }\n')
}

const core = new URL('core/', packages)
for (const name of ['fastest-levenshtein', 'picomatch', 'zod']) {
  const [license] = ['LICENSE', 'LICENSE.md'].map((file) => new URL(`node_modules/${name}/${file}`, core)).filter(existsSync)
  copyFileSync(license, new URL(`dist/bundle/${name}.LICENSE`, core))
}
