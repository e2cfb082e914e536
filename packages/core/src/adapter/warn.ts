import { loadInUse } from '../scope/load-in-use.js'
import type { RunHandle } from '../scope/run-handle.js'

/** Has the end of the run say something: once, whichever workers say it. */
export async function warn({ directory }: RunHandle, text: string): Promise<void> {
  const { writeEvents } = await loadInUse()
  writeEvents(directory, [{ type: 'warning', text }])
}
