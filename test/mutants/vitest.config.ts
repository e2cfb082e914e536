import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { findChecks } from './find-checks.js'

/** The module whose checks are listed, or of which one is taken out: `<path below packages/>#<number>`. */
const [file = '', at] = (process.env['CUSTODY_MUTANT'] ?? '').split('#')
const list = process.env['CUSTODY_MUTANT_LIST']

// The sources stay as they are: a check is missing only in what Vitest runs.
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  plugins: [
    {
      name: 'custody-mutant',
      enforce: 'post',
      transform(code, id) {
        if (!id.endsWith(`/packages/${file}`)) return null
        const checks = findChecks(this.parse(code), code)
        if (list !== undefined) writeFileSync(list, JSON.stringify(checks))
        const check = checks[Number(at)]
        if (check === undefined) return null
        return { code: `${code.slice(0, check.start)}(${check.instead})${code.slice(check.end)}`, map: null }
      },
    },
  ],
  test: { testTimeout: 60_000, hookTimeout: 60_000, bail: 1 },
})
