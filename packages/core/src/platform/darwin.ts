import { execFileSync } from 'node:child_process'
import type { Platform, ProcessEntry } from './index.js'

/** macOS and other Unix, through `ps`. Not verified on a machine yet: see docs/compatibility.md. */
export const darwin: Platform = {
  readProcess: (pid) => parse(ps('-o', 'pid=,ppid=,pgid=,state=,lstart=,comm=', '-p', String(pid)))[0] ?? null,
  holdsNumber: (pid, start) => darwin.readProcess(pid)?.start === start,
  isListingCheap: false,

  listProcesses(listed = new Set()) {
    const fresh = parse(ps('-ax', '-o', 'pid=,ppid=,pgid=,state=,lstart=,comm=')).filter(({ pid }) => !listed.has(pid))
    for (const { pid } of fresh) listed.add(pid)
    return fresh
  },

  readLastPid: () => null,
  describeProcess: () => ({ ageMs: null, cwd: null, listensOn: [], parent: null, output: null }),
  listOpen: () => ({ files: [], sockets: [] }),
  listChildren: () => null,

  readInitialVariable(pid, name) {
    // -E appends the environment where the system shows it; without a mark that it was shown, absence means nothing.
    const command = ps('-ww', '-o', 'command=', '-p', String(pid)).trimEnd()
    const line = ps('-E', '-ww', '-o', 'command=', '-p', String(pid))
    // An argument may look like a variable: only what follows the command line is the environment.
    if (command === '' || !line.startsWith(command)) return 'unreadable'
    const value = new RegExp(`(?:^| )${name}=(\\S*)`).exec(line.slice(command.length))?.[1]
    return value === undefined ? 'unreadable' : { value }
  },

  // Needs native code here.
  listWrittenFiles: () => [],

  listListeners: () => null,
  holdsSocket: () => false,
  readCommand: (pid) => ps('-ww', '-o', 'command=', '-p', String(pid)).trim().split(' ').filter(Boolean),

  isOlder(start, than) {
    const [a, b] = [Date.parse(`${start} UTC`), Date.parse(`${than} UTC`)]
    return Number.isNaN(a) || Number.isNaN(b) ? null : a < b
  },
}

function ps(...args: string[]): string {
  try {
    return execFileSync('/bin/ps', args, {
      encoding: 'utf8',
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch (error) {
    // ps says with exit code 1 that there is no such process.
    if ((error as { status?: unknown }).status === 1) return ''
    throw error
  }
}

function parse(output: string): ProcessEntry[] {
  return output.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+ +\w+ +\d+ +[\d:]+ +\d+)\s+(.*)$/.exec(line)
    if (match === null || match[4]?.startsWith('Z')) return []
    const [, pid = '', parent = '', group = '', , start = '', comm = ''] = match
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), start: start.split(/ +/).join(' '), comm }]
  })
}
