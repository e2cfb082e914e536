import { CustodyError } from '@custody/runtime/errors'
import type { Cell } from '../namespace/birth-state.js'
import { runInCell } from '../namespace/cells.js'
import type { Scope } from '../scope/scope.js'

/** What something belongs to that a test starts for others too. */
export type StartWidth = 'file' | 'worker' | 'run'

const WIDTHS: readonly StartWidth[] = ['file', 'worker', 'run']

/** Runs a function, and has what starts inside of it belong to something wider than the scope. */
export function runInWidth<T>(scope: Scope, width: StartWidth, run: () => T): T {
  if (!WIDTHS.includes(width)) throw wrongWidth(width)
  if (typeof run !== 'function') throw noFunction(width)
  const file = scope.file ?? scope
  const { birth } = width === 'file' ? file : scope.openWide(width)
  // What its code starts late is still its own.
  const cell: Cell = { birth, countsOn: true, isOver: false }
  // Other code may run before it is done: contexts tell them apart.
  return runInCell(cell, true, run)
}

function wrongWidth(width: unknown): CustodyError {
  return new CustodyError(
    'CUSTODY_INVALID_OPTION',
    `Could not start for the scope ${JSON.stringify(width)}: there is none of that name.`,
    {
      hint: `choose one of ${WIDTHS.join(', ')}.`,
      facts: { option: 'inScope', width },
    },
  )
}

function noFunction(width: StartWidth): CustodyError {
  return new CustodyError('CUSTODY_INVALID_OPTION', `Could not start for the scope "${width}": there is no function to run.`, {
    hint: `give one: custody.inScope('${width}', () => …).`,
    facts: { option: 'inScope', width },
  })
}
