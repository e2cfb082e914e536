// Checks the tarballs as a user gets them: that every export is there, with types that resolve.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pack } from './pack.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const checks = pack().flatMap((tarball) => [
  ['publint', '--strict', tarball],
  // The packages other than the runtime are ESM for those who import them. Of the runner Jest reads the default export, and nobody else does.
  ['attw', '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', 'cjs-only-exports-default', '--', tarball],
])
const failed = checks.filter(
  ([command, ...args]) => spawnSync('npx', ['--no-install', command, ...args], { cwd: root, stdio: 'inherit' }).status !== 0,
)
process.exitCode = failed.length === 0 ? 0 : 1
