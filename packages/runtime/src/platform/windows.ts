import { execFileSync } from 'node:child_process'
import type { RuntimePlatform } from './index.js'

/** Not verified on a machine yet: see docs/compatibility.md. */
export const windows: RuntimePlatform = {
  socketPathBytes: 256,
  hasFileModes: false,
  hasUnixSockets: false,

  readStart(pid) {
    const script = `$p = Get-Process -Id ${pid} -ErrorAction SilentlyContinue; if ($p) { $p.StartTime.ToFileTimeUtc() }`
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
