import {
  type Birth,
  birthState,
  type Cell,
  enterFile,
  type FileNames,
  noteCutShort,
  type RunHandle,
  Scope,
  type Settlement,
} from '@custody/core/worker'
import type { RunnerTestCase, RunnerTestFile } from 'vitest'
import { titleOf, wasCutShort } from './tasks.js'

/** A file or a test while it runs. One runner may run several files, so nothing of a file stands in the runner. */
export interface OpenFile {
  readonly cell: Cell
  readonly scope: Scope
  readonly tests: Map<RunnerTestCase, OpenTest>
}

export interface OpenTest {
  /** What surrounds the attempts. */
  readonly cell: Cell
  attempt: Cell
  scope: Scope
  /** What earlier attempts came to. */
  readonly settlements: Settlement[]
  hasBegun: boolean
}

/** No hook tells that a test is over which is skipped or has skipped itself: its mode does. */
class TaskCell implements Cell {
  readonly countsOn = false
  readonly birth: Birth
  readonly #test: RunnerTestCase
  #isOver = false

  constructor(birth: Birth, test: RunnerTestCase) {
    this.birth = birth
    this.#test = test
  }

  get isOver(): boolean {
    return this.#isOver || this.#test.mode === 'skip' || this.#test.mode === 'todo'
  }

  set isOver(isOver: boolean) {
    this.#isOver = isOver
  }
}

/** The files that run, and their tests: each is opened by the first hook that is called for it. */
export class OpenFiles {
  readonly #run: RunHandle
  readonly #files = new WeakMap<RunnerTestFile, OpenFile>()
  /** The test of each attempt's scope: what it has left may be found when it has ended. */
  readonly #testOf = new WeakMap<Scope, RunnerTestCase>()

  constructor(run: RunHandle) {
    this.#run = run
  }

  open(file: RunnerTestFile): OpenFile {
    let open = this.#files.get(file)
    if (open === undefined) {
      const cell = enterFile(this.#run.id)
      open = { cell, scope: Scope.openFile(this.#run, cell.birth, namesOf(file)), tests: new Map() }
      this.#files.set(file, open)
    }
    birthState().file = open.cell
    return open
  }

  /** Whether a file has been opened and not settled. */
  isRunning(file: RunnerTestFile): boolean {
    return this.#files.get(file)?.scope.isOver === false
  }

  openTest(test: RunnerTestCase): OpenTest {
    const { tests } = this.open(test.file)
    let open = tests.get(test)
    if (open === undefined) {
      const { attempt, scope } = this.#newAttempt(test)
      open = { cell: new TaskCell(scope.birth, test), attempt, scope, settlements: [], hasBegun: false }
      tests.set(test, open)
    }
    return open
  }

  /** Ends an attempt of a test that is tried again, and begins the next. Gives the scope of the one that has ended. */
  beginNextAttempt(test: RunnerTestCase, open: OpenTest): Scope {
    const ended = open.scope
    endAttempt(test, open.attempt)
    Object.assign(open, this.#newAttempt(test))
    return ended
  }

  /** Ends a test: whatever runs from here on is not its any more. */
  close(test: RunnerTestCase, open: OpenTest): void {
    open.cell.isOver = true
    endAttempt(test, open.attempt)
    this.open(test.file).tests.delete(test)
  }

  testOf(scope: Scope): RunnerTestCase | undefined {
    return this.#testOf.get(scope)
  }

  #newAttempt(test: RunnerTestCase): { attempt: Cell; scope: Scope } {
    const scope = this.open(test.file).scope.openTest(() => titleOf(test), test)
    this.#testOf.set(scope, test)
    return { scope, attempt: { birth: scope.birth, countsOn: true, isOver: false } }
  }
}

function endAttempt(test: RunnerTestCase, attempt: Cell): void {
  attempt.isOver = true
  if (wasCutShort(test)) noteCutShort(attempt)
}

function namesOf(file: RunnerTestFile): FileNames {
  return { path: () => file.filepath, separator: ' > ' }
}
