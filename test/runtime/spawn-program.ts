import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Program {
  readonly child: ChildProcess
  readonly pid: number
  /** What it has printed so far. */
  readonly output: string
  /** Resolves when its output matches; rejects when it cannot any more. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends it one line. */
  tell(line: string): void
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface StartOptions {
  args?: readonly string[]
  /** Its whole environment, besides PATH. */
  env?: Readonly<Record<string, string>>
  cwd?: string
  /** A line of sh that comes first, for the limits that it sets. */
  before?: string
  /** What to start instead: a program that is given the command line, and becomes it or is its parent. */
  wrapper?: readonly string[]
}

/**
 * Starts a program of test/programs.
 * @param onEnd takes what ends it, to be called when nobody needs it any more
 */
export function spawnProgram(
  name: string,
  { args = [], env = {}, cwd, before, wrapper = [] }: StartOptions,
  onEnd: (end: () => Promise<void>) => void,
): Program {
  const path = fileURLToPath(new URL(`../programs/${name}`, import.meta.url))
  const shell = before === undefined ? [] : ['/bin/sh', '-c', `${before}; exec "$@"`, 'sh']
  const engine = name.endsWith('.sh') ? '/bin/sh' : process.execPath
  const [file, ...rest] = [...wrapper, ...shell, engine, path, ...args] as [string, ...string[]]
  const child = spawn(file, rest, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }) as Awaited<Program['exited']>)
  onEnd(async () => {
    child.kill('SIGKILL')
    await exited
  })
  // A program that has left reads no more lines; its exit is what a test looks at.
  child.stdin.on('error', () => {})
  let output = ''
  let open = 2
  let look = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      output += text
      look()
    })
    stream.on('end', () => {
      open--
      look()
    })
  }
  return {
    child,
    pid: child.pid as number,
    exited,
    get output() {
      return output
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const before = look
        look = () => {
          before()
          const match = pattern.exec(output)
          if (match !== null) resolve(match)
          else if (open === 0) reject(new Error(`${name} ended without printing ${pattern}. It printed:\n${output}`))
        }
        look()
      }),
  }
}
