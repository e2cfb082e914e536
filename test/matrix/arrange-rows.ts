import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Outcome, Scene } from './row.js'
import { rows } from './rows.js'
import { type Place, Stage } from './stage.js'

/** What a test of a runner asks: that its row be arranged, or, in its finalizer, that it go on. */
interface Question {
  readonly step: 'arrange' | 'restore'
  readonly title: string
  readonly place: Place
}

/** What is seen of a row from outside of the run. A line for each is written when the run is over. */
export type Told = Omit<Outcome, 'receipts' | 'failures'> & { readonly title: string; readonly scope: string }

/** Arranges rows for the tests of a command, while that runs. Tells in `told.jsonl` what became of them, and exits as the command does. */
export async function arrangeRows([file, ...args]: readonly string[]): Promise<void> {
  const played = new Map<string, Played>()
  const server = createServer(async (request, response) => {
    try {
      const question = JSON.parse(await text(request)) as Question
      response.end(JSON.stringify(await (question.step === 'arrange' ? arrange : restore)(question)))
    } catch (error) {
      response.writeHead(500).end((error as Error).stack)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function arrange({ place, title }: Question): Promise<{ retired: readonly string[] }> {
    // A file that asks for the next row is done with the one before.
    for (const each of played.values()) if (fileOf(each.stage.place) === fileOf(place)) each.end()
    const stage = new Stage(place)
    played.set(title, new Played(title, stage))
    const scene = await rows.find((row) => row.title === title)?.arrange(stage)
    await stage.begin()
    played.set(title, new Played(title, stage, scene ?? {}))
    return { retired: scene?.retired ?? [] }
  }

  async function restore({ title }: Question): Promise<object> {
    await played.get(title)?.restore()
    return {}
  }

  const env = { ...process.env, ARRANGER: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const command = spawn(file as string, args, { stdio: 'inherit', env })
  const [code] = await once(command, 'exit')
  for (const each of played.values()) {
    each.end()
    appendFileSync('told.jsonl', `${JSON.stringify(await each.tell())}\n`)
    await each.stage.end()
  }
  server.closeAllConnections()
  server.close()
  process.exitCode = code ?? 1
}

const fileOf = ({ id }: Place) => id.slice(0, id.lastIndexOf('.'))

/** One row, from the moment when its test has asked for it. */
class Played {
  readonly title: string
  readonly stage: Stage
  readonly #scene: Scene
  #restoredAt: number | null = null
  #tookMs: number | null = null

  constructor(title: string, stage: Stage, scene: Scene = {}) {
    this.title = title
    this.stage = stage
    this.#scene = scene
  }

  async restore(): Promise<void> {
    this.#restoredAt = performance.now()
    await this.#scene.restore?.()
  }

  /** Its teardown is over at the latest now. */
  end(): void {
    this.#tookMs ??= this.#restoredAt === null ? null : performance.now() - this.#restoredAt
  }

  async tell(): Promise<Told> {
    return { title: this.title, scope: this.stage.place.id, tookMs: this.#tookMs ?? Infinity, ...(await this.stage.report()) }
  }
}
