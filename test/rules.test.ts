// What the sources must not do, whoever writes them: rules that no type and no linter knows.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../packages/', import.meta.url))

interface Rule {
  readonly title: string
  /** Whether a line breaks it. */
  readonly pattern: RegExp
  /** Whether it is one for a file at all. @default all */
  readonly concerns?: (code: string) => boolean
  /** The files that may, each with the reason. */
  readonly allowed: Readonly<Record<string, string>>
  /** Lines that break it, so that it is seen to work, and lines that do not. */
  readonly bad: readonly string[]
  readonly good: readonly string[]
}

const rules: readonly Rule[] = [
  {
    // B36, B39
    title: 'nobody is selected by name or port',
    pattern: /\b(pkill|killall|pgrep|pidof|lsof|fuser|netstat|taskkill|tasklist)\b|['"`]ss['"`]|\bss -\w*[lp]/,
    allowed: {},
    bad: ["execFileSync('pkill', ['-f', name])", "spawn('lsof', ['-ti', port])", 'execSync(`fuser -k 80/tcp`)', "spawn('ss')"],
    good: ['const processes = find()', 'session.close()'],
  },
  {
    title: "nobody is selected by the short name of its program: that is for people's eyes",
    pattern: /(\.comm\b|\bcomm\s*[,}].*=|\bcomm\b.*===)/,
    allowed: { 'core/src/platform/windows.ts': 'gives the name as the command, for people' },
    bad: ['if (entry.comm === name)', "table.filter(({ comm }) => comm === 'node')", 'const { comm, pid } = entry'],
    good: ['return { pid, parent, start, comm }', 'readonly comm: string'],
  },
  {
    title: 'ps is asked on macOS alone',
    pattern: /['"`](\/bin\/)?ps['"` ]/,
    allowed: {
      'core/src/platform/darwin.ts': 'there is no other way without native code',
      'runtime/src/platform/darwin.ts': 'there is no other way without native code',
    },
    bad: ["execFileSync('ps', ['-ax'])", "spawn('/bin/ps')", 'exec(`ps -p 1`)'],
    good: ["import { ps } from './steps.js'", "'https'"],
  },
  {
    title: 'signals are sent in one place, which looks first',
    pattern:
      /\.\s*kill\(|\bprocess\s*\.\s*kill\b|\bkill\b[^}]*\}\s*=\s*process\b|\bkill\b[^}]*\}\s*from 'node:process'|\bprocess\[['"`]kill/,
    allowed: {
      'core/src/tree/send-signal.ts': 'this is the place',
      'jest/src/index.cts': 'asks the supervisor, for a test: its handle has this method',
    },
    bad: [
      "process.kill(pid, 'SIGTERM')",
      'const { kill } = process',
      "import { kill } from 'node:process'",
      "process['kill'](1)",
      "child.kill('SIGKILL')",
    ],
    good: ["signalChild('SIGKILL', child)", 'kill: signal,'],
  },
  {
    title: 'no process is asked whether it is there by a signal: a number proves nothing',
    pattern: /\bkill\s*\([^)]*,\s*0\s*\)/,
    allowed: {},
    bad: ['process.kill(pid, 0)', 'kill(-pid,0)'],
    good: ["sendSignal('SIGCONT', target)"],
  },
  {
    title: "the end of a child's output is not taken for its exit: a daemon may hold it for ever",
    pattern: /\.(on|once|addListener)\(\s*['"`]close['"`]|\bonce\([^)]*['"`]close['"`]/,
    concerns: (code) => /'(node:child_process|execa)'/.test(code),
    allowed: {},
    bad: ["child.on('close', done)", "subprocess.once('close', (code) => {})", "await once(child, 'close')"],
    good: ["child.once('exit', done)", 'watcher.close()'],
  },
  {
    title: 'time is that of the clock, which no test can fake',
    pattern:
      /(?<![\w.$'])(set(Timeout|Interval|Immediate)|queueMicrotask)\(|\bglobalThis\s*\.\s*(set|clear|performance|Date)|\b(Date|performance)\.now\b|\bnew Date\(|timers\/promises|'node:timers'/,
    allowed: {
      'runtime/src/clock.ts': 'takes the true ones, before anybody can replace them',
      'runtime/src/serve/serve-runtime.ts': 'the date of a locator is for people; nothing is compared with it',
      'core/src/adapter/run.ts': 'runs in the main process; the date of a run is for people',
      'core/src/supervisor/serve.ts': 'runs in a process of its own, without any code of a test',
      'core/src/supervisor/supervisor.ts': 'runs in a process of its own, without any code of a test',
      'jest/src/to-its-end.ts': 'runs in the main process, and is never due',
    },
    bad: [
      'setTimeout(done, 20)',
      'const now = Date.now()',
      'await new Promise((resolve) => setImmediate(resolve))',
      'performance.now()',
      'globalThis.setTimeout(done)',
      "import { setTimeout } from 'node:timers/promises'",
      'created: new Date().toISOString()',
    ],
    good: ['clock.setTimeout(done, 20)', 'clock.now()', 'socket.setTimeout(20)', 'clock.setImmediate(resolve)'],
  },
]

const files = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => join(root, entry.name, 'src'))
  .flatMap((source) => readdirSync(source, { recursive: true, encoding: 'utf8' }).map((name) => join(source, name)))
  .filter((path) => /\.[cm]?ts$/.test(path) && !/\.test\.ts$/.test(path))
  .map((path) => ({ name: relative(root, path), code: withoutComments(readFileSync(path, 'utf8')) }))

/** The same lines without what is said about them. */
function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, '')).replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1')
}

function breaksOf({ concerns = () => true, pattern }: Rule, { code, name }: { code: string; name: string }): string[] {
  if (!concerns(code)) return []
  return code.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${name}:${at + 1}: ${line.trim()}`] : []))
}

test('there are sources to look at, in each package', () => {
  expect([...new Set(files.map(({ name }) => name.split('/')[0]))]).toEqual(readdirSync(root))
  expect(files.length).toBeGreaterThan(100)
})

describe.each(rules)('$title', (rule) => {
  test('in every source but those that are allowed to', () => {
    expect(files.filter(({ name }) => !Object.hasOwn(rule.allowed, name)).flatMap((file) => breaksOf(rule, file))).toEqual([])
  })

  test('and nobody is allowed to who does not need it', () => {
    const needing = files.filter((file) => breaksOf(rule, file).length > 0).map(({ name }) => name)
    expect(Object.keys(rule.allowed).filter((name) => !needing.includes(name))).toEqual([])
  })

  test('which this would see', () => {
    const isSeen = (line: string) => rule.pattern.test(withoutComments(line))
    expect(rule.bad.filter((line) => !isSeen(line))).toEqual([])
    expect(rule.good.filter(isSeen)).toEqual([])
    expect(rule.bad.map((line) => `// ${line}`).filter(isSeen)).toEqual([])
  })
})
