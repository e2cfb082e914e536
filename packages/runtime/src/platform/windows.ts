import { execFileSync } from 'node:child_process'
import type { RuntimePlatform } from './index.js'

/** Not verified on a machine yet: see docs/compatibility.md. */
export const windows: RuntimePlatform = {
  socketPathBytes: 256,
  hasFileModes: false,
  hasUnixSockets: false,

  readStart(pid) {
    // As in the core's process table: another source would round the same moment differently.
    const script = `(Get-CimInstance Win32_Process -Filter "ProcessId = ${pid}").CreationDate.ToFileTimeUtc()`
    const start = execFileSync('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    }).trim()
    return start === '' ? null : start
  },

  readOrigin() {
    return { boot: null, pidns: null, timens: null }
  },
}
