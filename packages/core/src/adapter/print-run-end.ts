import type { RunEnd } from './run-report.js'

/** Prints how a run ended, to standard error: standard output may belong to a JSON reporter. Tells whether all is well. */
export function printRunEnd({ failures, text }: RunEnd): boolean {
  if (text !== '') console.error(`\n${text}`)
  for (const { message, name, stack } of failures) console.error(`\n${stack ?? `${name}: ${message}`}`)
  return failures.length === 0
}
