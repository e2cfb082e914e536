import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const packageRoot = fileURLToPath(new URL('..', import.meta.url))
export const cli = join(packageRoot, 'src', 'cli.js')

/**
 * The command in the current test's namespace: `taskd(...args)` gives its answer, `taskd.refused(...args)` the refusal.
 * @param {any} custody
 * @param {string} [program]
 */
export function openTaskd(custody, program = cli) {
  const run = (args, options) => custody.exec(process.execPath, [program, ...args, '--json'], options)

  const taskd = async (...args) => JSON.parse((await run(args)).stdout)
  taskd.refused = async (...args) => {
    const { exitCode, stdout, stderr } = await run(args, { reject: false })
    if (exitCode !== 1 || stdout !== '') throw new Error(`Not refused (exit code ${exitCode}): ${stdout}${stderr}`)
    return JSON.parse(stderr)
  }
  /** The same command of another copy of the package. */
  taskd.from = (root) => openTaskd(custody, join(root, 'src', 'cli.js'))
  return taskd
}
