import { execFileSync } from 'node:child_process'
import type { RuntimePlatform } from './index.js'

/** macOS and other Unix. Not verified on a machine yet: see docs/compatibility.md. */
export const darwin: RuntimePlatform = {
  socketPathBytes: 103,
  hasFileModes: true,
  hasUnixSockets: true,

  readStart(pid) {
    try {
      // Without a native addon `ps` is the only way to a start time here. It has a resolution of one second.
      const line = execFileSync('/bin/ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        env: { LC_ALL: 'C', TZ: 'UTC' },
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
      const [state, ...start] = line.split(/\s+/)
      return state === undefined || state.startsWith('Z') || start.length === 0 ? null : start.join(' ')
    } catch (error) {
      // ps says with exit code 1 that there is no such process.
      if ((error as { status?: unknown }).status === 1) return null
      throw error
    }
  },

  readOrigin() {
    return { boot: null, pidns: null, timens: null }
  },
}
