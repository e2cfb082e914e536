// What tsc does not write: the mark that tells Node that a folder holds CommonJS.
import { existsSync, writeFileSync } from 'node:fs'

for (const name of ['runtime', 'core']) {
  const folder = new URL(`../packages/${name}/dist/cjs/`, import.meta.url)
  if (existsSync(folder)) writeFileSync(new URL('package.json', folder), '{ "type": "commonjs" }\n')
}
