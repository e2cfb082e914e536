/** A moment of a teardown. Accepted, drained, locator removed and exited are four facts, and each has its own step. */
export type StepName =
  | 'captured'
  | 'proven'
  | 'shutdown requested'
  | 'accepted'
  | 'refused'
  | 'draining'
  | 'drained'
  | 'connection ended'
  | 'exit observed'
  | 'locator removed'
  | 'locator left behind'
  | 'stopped'

export interface Step {
  readonly step: StepName
  /** Milliseconds since the teardown began. */
  readonly atMs: number
}
