import { createInterface } from 'node:readline'
import { type Program, startProgram } from '../runtime/start-program.js'

export interface ServeRequest {
  readonly name: string
  readonly locator: string
  /** What CUSTODY_NAMESPACE is then; null for nothing. */
  readonly variable: string | null
  /** Whether its process exits with it. */
  readonly exit: boolean
}

/** A process that serves what it is told, so that hundreds of runtimes need only as many processes as have to end. */
export class Host {
  readonly program: Program
  /** Why its runtimes were shut down, in order. */
  readonly shutdowns: string[] = []
  readonly #lines: string[] = []
  #wake: () => void = () => {}

  constructor(env: Readonly<Record<string, string>>) {
    this.program = startProgram('hosting.js', { env })
    const lines = createInterface({ input: this.program.child.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      if (line.startsWith('drains ')) this.shutdowns.push(line.slice('drains '.length))
      else this.#lines.push(line)
      this.#wake()
    })
    lines.on('close', () => this.#wake())
  }

  /** @returns its instance, or null when it was refused */
  async serve(request: ServeRequest): Promise<string | null> {
    this.program.tell(JSON.stringify(request))
    const [word, what = null] = (await this.#next(/^(serves|refused) /)).split(' ')
    return word === 'serves' ? what : null
  }

  async close(): Promise<void> {
    this.program.tell(JSON.stringify({ act: 'close' }))
    await this.#next(/^closed$/)
    this.shutdowns.length = 0
  }

  async kill(): Promise<void> {
    this.program.child.kill('SIGKILL')
    await this.program.exited
  }

  get isAlive(): boolean {
    const { exitCode, signalCode } = this.program.child
    return exitCode === null && signalCode === null
  }

  async #next(pattern: RegExp): Promise<string> {
    for (;;) {
      const line = this.#lines.shift()
      if (line !== undefined && pattern.test(line)) return line
      if (line !== undefined) continue
      if (!this.isAlive) throw new Error(`A host has ended: ${this.program.output}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
