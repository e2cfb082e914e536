/** Those that can wait for a line of the output. */
export const listeners = ['floor', 'custody', 'execa', 'tinyexec', 'tree-kill', 'prool', 'playwright']

/** Those that ask a port, each in its own way. */
export const askers = ['wait-on', 'jest-dev-server', 'start-server-and-test', 'concurrently']

/** Loads a contestant and opens what it needs. */
export async function openContestant(name) {
  const contestant = await import(`./${name}.mjs`)
  await contestant.open?.()
  return contestant
}
