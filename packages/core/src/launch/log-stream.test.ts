import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { LogFile } from './log-file.js'
import { LogStream } from './log-stream.js'

/** Follows a new log. */
function follow(): { path: string; shown: string[]; stream: LogStream; until(text: string): Promise<void> } {
  const path = join(temporaryDirectory(), 'log')
  writeFileSync(path, '')
  const shown: string[] = []
  const stream = new LogStream('api', new LogFile(path), (text) => void shown.push(text))
  void stream.follow()
  onTestFinished(() => stream.end())
  return {
    ...{ path, shown, stream },
    async until(text) {
      while (!shown.join('').includes(text)) await new Promise((resolve) => setTimeout(resolve, 5))
    },
  }
}

test('shows each line as it comes, behind the name', async () => {
  const { path, shown, until } = follow()
  appendFileSync(path, 'one\ntw')
  await until('one')
  appendFileSync(path, 'o\n')
  await until('two')
  expect(shown.join('')).toBe('[api] one\n[api] two\n')
})

test('shows a line that has not ended when it ends, and nothing after that', async () => {
  const { path, shown, stream, until } = follow()
  appendFileSync(path, 'one\nlast')
  await until('one')
  stream.end()
  appendFileSync(path, ' words\n')
  stream.flush()
  expect(shown.join('')).toContain('[api] one\n[api] last\n')
})

test('shows a line that does not end in pieces', async () => {
  const { path, shown, until } = follow()
  appendFileSync(path, 'x'.repeat(70_000))
  await until('x'.repeat(100))
  expect(shown.join('').length).toBeGreaterThan(64 * 1024)
})

test('goes on behind the new end of a log that was cut', async () => {
  const { path, until } = follow()
  appendFileSync(path, 'a long line\n')
  await until('a long line')
  truncateSync(path, 0)
  // What comes before the next look stands before the end that it finds.
  const writer = setInterval(() => appendFileSync(path, 'new\n'), 5)
  await until('[api] new').finally(() => clearInterval(writer))
})
