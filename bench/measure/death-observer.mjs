import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../programs/observing-deaths.py', import.meta.url))

/** Says when a process has really died: another process waits for it, with a handle of the kernel's. */
export class DeathObserver {
  #child = spawn('python3', [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  #lines = createInterface({ input: this.#child.stdout })

  /** Resolves when it is watched, with what will resolve with the moment of its death. */
  async watch(pid) {
    const died = this.#line('dead', pid).then(BigInt)
    const isWatched = this.#line('watching', pid)
    this.#child.stdin.write(`${pid}\n`)
    await isWatched
    return { died }
  }

  async close() {
    const exited = once(this.#child, 'exit')
    this.#child.stdin.end()
    await exited
  }

  #line(word, pid) {
    return new Promise((resolve) => {
      const listener = (line) => {
        const [is, of, value] = line.split(' ')
        if (is !== word || Number(of) !== pid) return
        this.#lines.off('line', listener)
        resolve(value ?? '')
      }
      this.#lines.on('line', listener)
    })
  }
}
