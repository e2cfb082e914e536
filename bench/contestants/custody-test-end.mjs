// As custody, and what was started ends with its test: the receipt is written, and the directory of the test is removed.
import * as custody from './custody.mjs'

export const { close, open } = custody

export async function start(server) {
  const { settle } = await custody.start(server)
  return { stop: settle }
}
