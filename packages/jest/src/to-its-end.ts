/**
 * Runs a part of our teardown. One that waits for something that holds no handle lets the process end with code 0 and without a word, so
 * something is held, and the code is set in advance.
 */
export async function toItsEnd(part: () => Promise<boolean>): Promise<void> {
  const before = process.exitCode
  process.exitCode = 1
  const held = setInterval(() => {}, 2 ** 30)
  let isWell = false
  try {
    isWell = await part()
  } finally {
    clearInterval(held)
    process.exitCode = isWell ? before : before || 1
  }
}
