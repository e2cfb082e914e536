import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../programs/contesting.mjs', import.meta.url))
/** How long one measurement may take, in milliseconds. */
const LIMIT_MS = 120_000

/** One contestant of a bench, in a process of its own: no other has filled its heap or holds its event loop. */
export class ContestantProcess {
  #child
  #errors = ''

  constructor(child) {
    this.#child = child
    child.stderr.on('data', (text) => {
      this.#errors = (this.#errors + text).slice(-2_000)
    })
  }

  static async open(bench, contestant, caseName) {
    const child = fork(program, [bench, contestant, ...(caseName === undefined ? [] : [caseName])], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const opened = new ContestantProcess(child)
    try {
      await opened.#answer()
      return opened
    } catch (error) {
      child.kill('SIGKILL')
      child.stderr.destroy()
      throw error
    }
  }

  /** Has it measure once. */
  async measure() {
    this.#child.send('measure')
    return this.#answer()
  }

  async close() {
    // What a contestant leaves behind may hold it for long.
    this.#child.stderr.destroy()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    if (this.#child.connected) this.#child.send('close')
    await exited
    clearTimeout(timer)
  }

  async #answer() {
    const over = new AbortController()
    const { signal } = over
    const timer = setTimeout(() => over.abort(), LIMIT_MS)
    try {
      const [answer] = await Promise.race([
        once(this.#child, 'message', { signal }),
        once(this.#child, 'exit', { signal }).then(([code, name]) => [{ error: `it exited with ${code ?? name}` }]),
      ])
      if (answer.error !== undefined) throw new Error(`${answer.error}\n${this.#errors}`.trim())
      return answer.values
    } finally {
      clearTimeout(timer)
      over.abort()
    }
  }
}
