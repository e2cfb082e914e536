import { writeEvents } from '../report/events.js'
import type { RunHandle } from '../scope/run-handle.js'

/** Tells the run that a project is under custody, which shows nowhere in its configuration. */
export function noteManaged({ directory }: RunHandle, project: string): void {
  writeEvents(directory, [{ type: 'managed', project }])
}
