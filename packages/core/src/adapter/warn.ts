import type { RunHandle } from '../scope/run-handle.js'

/** Has the end of the run say something: once, whichever workers say it. */
export async function warn({ directory }: RunHandle, text: string): Promise<void> {
  const { writeEvents } = await import('../report/events.js')
  writeEvents(directory, [{ type: 'warning', text }])
}
