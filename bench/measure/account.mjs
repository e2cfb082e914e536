import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('../programs/accounting.py', import.meta.url))

/**
 * Runs a command to its end, and until all that it has started has ended as well.
 * @returns {Promise<{ wallMs: number, cpuMs: number }>} how long the command itself took, and the CPU time of all of them
 */
export async function account(command, options) {
  const { stderr, stdout } = await promisify(execFile)('python3', [program, ...command], options)
  const { code, ...used } = JSON.parse(stdout)
  if (code !== 0) throw new Error(`${command[1]} exited with ${code}\n${stderr.slice(-2_000)}`)
  return used
}
