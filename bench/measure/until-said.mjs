import { once } from 'node:events'

/** Resolves when a program has said a text; without a text when it was started. Rejects when it exits before. */
export function untilSaid(child, stdout, text) {
  if (text === null) return once(child, 'spawn')
  return new Promise((resolve, reject) => {
    let said = ''
    stdout.on('data', (part) => {
      said = (said + part).slice(-1_000)
      if (said.includes(text)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`it exited with ${code}`)))
    child.once('error', reject)
  })
}
