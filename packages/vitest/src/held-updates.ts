import type { RunnerTestCase, RunnerTestFile } from 'vitest'
import type { RunnerHooks } from './base-runner.js'

type Pack = readonly [id: string, result: unknown, meta: unknown]
type Event = readonly [id: string, event: string, data: unknown]
type Send = (packs: unknown[], events: unknown[]) => unknown

/**
 * Keeps back what Vitest tells of tests that may still turn red at the end of their file: what was told green cannot be recalled. Vitest
 * puts the function that tells on the instance; this one stands before it.
 */
export class HeldUpdates {
  readonly #tests = new Set<string>()
  readonly #files = new Set<string>()
  #events: Event[] = []
  /** Tests of which the end was told. Others still wait in Vitest's own queue, and are told as they are by then. */
  readonly #told = new Set<string>()
  #send: Send | null = null

  constructor(runner: RunnerHooks) {
    const original = runner.onTaskUpdate
    let current: Send | undefined
    Object.defineProperty(runner, 'onTaskUpdate', {
      configurable: true,
      get: () => current ?? original,
      set: (send: Send) => {
        this.#send = (packs, events) => send.call(runner, packs, events)
        current = (packs, events) => this.#filter(packs as Pack[], events as Event[])
      },
    })
  }

  /** Whether Vitest has put its function here: without it nothing of a test that has ended can be changed. */
  get isHooked(): boolean {
    return this.#send !== null
  }

  /** Holds the end of a test, and with it that of its file. */
  hold(test: RunnerTestCase): void {
    this.#tests.add(test.id)
    this.#files.add(test.file.id)
  }

  /**
   * Tells of what was held in a file, as it is by now, and of whatever has changed.
   * @param beforeLast called when all changed tests but the last are told: what counts them asks for the last one
   */
  async release(
    file: RunnerTestFile,
    changed: readonly RunnerTestCase[],
    beforeLast: (last: RunnerTestCase) => Promise<void>,
  ): Promise<void> {
    const held = testsOf(file).filter((test) => this.#tests.delete(test.id) || changed.includes(test))
    const isHeld = this.#files.delete(file.id)
    const last = changed.at(-1)
    if (last !== undefined) {
      await this.#tell(held.filter((test) => test !== last))
      await beforeLast(last)
    }
    const rest = last === undefined ? held : [last]
    if (rest.length > 0 || isHeld) await this.#tell(rest, file)
    this.#told.clear()
  }

  /** Tells of tests and of what stands around them; with the file also that it has ended. */
  async #tell(tests: readonly RunnerTestCase[], file: RunnerTestFile | null = null): Promise<void> {
    if (tests.length === 0 && file === null) return
    const ids = new Set([...tests.map(({ id }) => id), ...(file === null ? [] : [file.id])])
    const events = this.#events.filter(([id]) => ids.has(id))
    this.#events = this.#events.filter(([id]) => !ids.has(id))
    // One that has been told green is told again.
    const again = tests.filter(({ id }) => this.#told.has(id)).map(({ id }) => [id, 'test-finished', undefined])
    const tasks = new Set<Task>([...tests, ...tests.flatMap(ancestorsOf), ...(file === null ? [] : [file])])
    const packs = [...tasks].map(({ id, meta, result }) => [id, result, meta])
    await this.#send?.(packs, [...events, ...again])
  }

  #filter(packs: readonly Pack[], events: readonly Event[]): unknown {
    const isEnd = ([id, event]: Event) =>
      (event === 'test-finished' && this.#tests.has(id)) || (event === 'suite-finished' && this.#files.has(id))
    const held = events.filter(isEnd)
    for (const [id, event] of events) if (event === 'test-finished' && !this.#tests.has(id)) this.#told.add(id)
    if (held.length === 0) return this.#send?.([...packs], [...events])
    this.#events.push(...held)
    const ids = new Set(held.map(([id]) => id))
    const [left, rest] = [packs.filter(([id]) => !ids.has(id)), events.filter((event) => !isEnd(event))]
    return left.length + rest.length > 0 ? this.#send?.(left, rest) : undefined
  }
}

interface Task {
  readonly id: string
  readonly result?: unknown
  readonly meta: unknown
}

function testsOf(file: RunnerTestFile): RunnerTestCase[] {
  const below = (tasks: RunnerTestFile['tasks']): RunnerTestCase[] =>
    tasks.flatMap((task) => (task.type === 'suite' ? below(task.tasks) : (task as RunnerTestCase)))
  return below(file.tasks)
}

function ancestorsOf(test: RunnerTestCase): Task[] {
  const suites: Task[] = []
  for (let suite = test.suite; suite !== undefined; suite = suite.suite) suites.push(suite)
  return suites
}
