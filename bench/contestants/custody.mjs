// The object that a test has, in a scope that is opened here as an adapter opens it. Runner and worker are one process.
import { openRun } from '@custody/core'
import { custody, enterFile, markChildren, runInCell, Scope } from '@custody/core/worker'

let run
let file

export async function open() {
  run = await openRun({}, process.cwd())
  markChildren()
  const cell = enterFile(run.handle.id)
  file = Scope.openFile(run.handle, cell.birth, () => 'bench')
  await file.lease()
}

export async function start(server) {
  const { scope, started } = startInTest(server)
  const runtime = await started
  return { stop: () => runtime.stop(), settle: () => endTest(scope) }
}

export async function close() {
  await file.settle({ hasFailed: false })
  await run.settle()
  await run.close()
}

function startInTest({ command, name, readyText }) {
  const scope = file.openTest(() => name)
  const cell = { kind: 'attempt', birth: scope.birth, isOver: false }
  const ready = readyText === null ? [] : { log: readyText }
  return { scope, started: runInCell(cell, false, () => custody.start({ name, command, ready })) }
}

async function endTest(scope) {
  await scope.capture()
  const { failures } = await scope.settle({ hasFailed: false })
  if (failures.length > 0) throw new AggregateError(failures)
}
