import type { RunEnd } from './run-report.js'

/**
 * Prints how a run ended, to standard error: standard output may belong to a JSON reporter. Tells whether all is well.
 * @param print for a process that writes no more by itself
 */
export function printRunEnd({ failures, text }: RunEnd, print: (text: string) => void = console.error): boolean {
  if (text !== '') print(`\n${text}`)
  for (const { message, name, stack } of failures) print(`\n${stack ?? `${name}: ${message}`}`)
  return failures.length === 0
}
