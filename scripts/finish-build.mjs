// The mark that tells Node that a folder holds CommonJS, which tsc does not write.
import { existsSync, writeFileSync } from 'node:fs'

const packages = new URL('../packages/', import.meta.url)

for (const name of ['runtime', 'core']) {
  const folder = new URL(`${name}/dist/cjs/`, packages)
  if (existsSync(folder)) writeFileSync(new URL('package.json', folder), '{ "type": "commonjs" }\n')
}
