/** The names of all benches, in the order in which they are run. */
export const names = [
  'ready',
  'fat-worker',
  'stop',
  'scale',
  'tree',
  'killed',
  'boot',
  'empty-run',
  'import',
  'trivial',
  'idle-jest',
]

/** Loads one alone: what others import is not to stand in the process of a contestant. */
export async function loadBench(name) {
  const { bench } = await import(`./${name}.mjs`)
  return bench
}
