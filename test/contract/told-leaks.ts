import type { SuiteResult } from './run-suite.js'

/**
 * For the inside of a test file: `leaves` starts a process that is told by its seconds, `ends` stops one, `gate` is something to wait for, and
 * `never` is what never comes.
 */
export const leaving = `
  const leaves = (seconds) => {
    const child = spawn('sleep', [String(seconds)], { stdio: 'ignore' })
    note(String(seconds), child.pid)
    return child
  }
  const ends = (child) => new Promise((resolve) => { child.once('exit', resolve); child.kill() })
  const gate = () => {
    let open
    const opened = new Promise((resolve) => { open = resolve })
    return { open, opened }
  }
  const never = () => new Promise(() => {})
  const soon = () => new Promise((resolve) => setTimeout(resolve, 1))`

/** Each test with its status, and what its errors say was left, by its seconds. */
export function outcomesOf({ tests }: SuiteResult): [title: string, status: string, ...seconds: number[]][] {
  return tests.map(({ messages, status, title }) => [title, status, ...toldIn(messages)])
}

/** The seconds of all that errors tell as left. */
export function toldIn(text: string): number[] {
  return unique([...text.matchAll(/pid \d+ {2}sleep (\d+) /g)].map(([, seconds]) => Number(seconds)))
}

/** What the end of the run tells of who has failed by itself: `<who>: <seconds>`. */
export function warningsOf({ output }: SuiteResult): string[] {
  const warnings = output.matchAll(/^custody {2}warning: (?:.* › )?(.+) left pid \d+: sleep (\d+)$/gm)
  return [...warnings].map(([, who, seconds]) => `${who}: ${seconds}`).sort()
}

/** The seconds of all that was started. */
export function startedIn({ notes }: SuiteResult): number[] {
  return unique(
    Object.keys(notes)
      .filter((name) => /^\d{3}$/.test(name))
      .map(Number),
  )
}

function unique(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b)
}
