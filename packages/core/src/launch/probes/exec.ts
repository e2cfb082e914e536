import { execFile } from 'node:child_process'
import { unnoted } from '../../namespace/be-born.js'
import { withoutSecrets } from '../../tree/without-secrets.js'
import { type Probe, retry } from './probe.js'

/** Holds when a command exits with 0. It runs in the runtime's directory and environment. */
export function execProbe([file, ...args]: readonly [string, ...string[]]): Probe {
  return ({ cwd, ended, env, note, signal }) =>
    retry({ ended, signal }, () => {
      return new Promise<boolean>((resolve) => {
        const child = unnoted(() => execFile(file, args, { cwd, env, signal, windowsHide: true }, () => {}))
        child.once('error', ({ message }) => {
          note(`${file}: ${message}`)
          resolve(false)
        })
        child.once('exit', (code, ended) => {
          note(`${withoutSecrets([file, ...args]).join(' ')} ended with ${ended ?? `code ${code}`}`)
          resolve(code === 0)
        })
      })
    })
}
