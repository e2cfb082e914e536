import { execFileSync } from 'node:child_process'
import type { Platform, ProcessEntry } from './index.js'

/** Windows, through CIM. Not verified on a machine yet: see docs/compatibility.md. */
export const windows: Platform = {
  readProcess: (pid) => query(`ProcessId = ${pid}`)[0] ?? null,
  holdsNumber: (pid, start) => windows.readProcess(pid)?.start === start,
  isListingCheap: false,

  listProcesses(listed = new Set()) {
    const fresh = query('').filter(({ pid }) => !listed.has(pid))
    for (const { pid } of fresh) listed.add(pid)
    return fresh
  },

  readLastPid: () => null,
  describeProcess: () => ({ ageMs: null, cwd: null, listensOn: [], parent: null, output: null }),
  listOpen: () => ({ files: [], sockets: [] }),
  listChildren: () => null,
  // Another process's environment cannot be read without native code here.
  readInitialVariable: () => 'unreadable',
  // Needs native code here.
  listWrittenFiles: () => [],
  listListeners: () => null,
  holdsSocket: () => false,
  readCommand: (pid) => query(`ProcessId = ${pid}`).map(({ comm }) => comm),
  isOlder: (start, than) => BigInt(start) < BigInt(than),
}

function query(filter: string): ProcessEntry[] {
  const script =
    `Get-CimInstance Win32_Process ${filter && `-Filter "${filter}"`} | Where-Object CreationDate | ForEach-Object ` +
    `{ "$($_.ProcessId) $($_.ParentProcessId) $($_.CreationDate.ToFileTimeUtc()) $($_.Name)" }`
  const output = execFileSync('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    windowsHide: true,
  })
  return output.split(/\r?\n/).flatMap((line) => {
    const [pid, parent, start, ...name] = line.split(' ')
    if (!pid || !parent || !start) return []
    return [{ pid: Number(pid), parent: Number(parent), group: 0, start, comm: name.join(' ') }]
  })
}
