// Imports its arguments one after the other, and says what that took.
import { fileURLToPath } from 'node:url'

export async function measureImports(specifiers) {
  const [begunAt, before] = [performance.now(), process.cpuUsage()]
  for (const specifier of specifiers) await import(specifier)
  const { system, user } = process.cpuUsage(before)
  return { wallMs: performance.now() - begunAt, cpuMs: (user + system) / 1_000 }
}

const [, program, ...specifiers] = process.argv
if (program === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await measureImports(specifiers)))
