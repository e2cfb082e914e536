import { onTestFinished, vi } from 'vitest'
import { addWitness } from '../../packages/core/src/witness/witness.js'

/** Every signal that this process would send until the test has finished. Nobody gets one, whatever goes wrong. */
export function catchSignals(): unknown[] {
  const caught: unknown[] = []
  const kill = vi.spyOn(process, 'kill').mockImplementation((...given) => {
    caught.push(given)
    return true
  })
  const removeWitness = addWitness((act) => act.act === 'signal' && caught.push(act))
  onTestFinished(() => {
    kill.mockRestore()
    removeWitness()
  })
  return caught
}
