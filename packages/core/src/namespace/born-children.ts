import type { Birth, BornChild, Child } from './birth-state.js'

/** So many children are noted until those that have exited are forgotten. */
const MAX_NOTED = 32

/** Those that have exited are forgotten now and then: a file may start thousands. */
export function noteChild({ children }: Birth, child: BornChild): void {
  if (children.length >= MAX_NOTED && children.length % MAX_NOTED === 0) {
    children.splice(0, children.length, ...children.filter((each) => mayBeAlive(each.process)))
  }
  children.push(child)
}

/** Whether a child has been started, and has not exited as far as Node knows. */
export function mayBeAlive({ exitCode, pid, signalCode }: Child): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}

/**
 * Takes all listeners from children that may still be alive: for those whose code is gone.
 * @param except children of code that is still there
 */
export function silence({ children }: Birth, except: readonly BornChild[]): void {
  for (const child of children) {
    const { process } = child
    if (!mayBeAlive(process) || except.includes(child)) continue
    for (const emitter of [process, ...(process.stdio ?? [])]) {
      // An error that nobody listens to would end this process.
      emitter?.removeAllListeners?.().on('error', () => {})
    }
  }
}
