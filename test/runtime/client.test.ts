import { join } from 'node:path'
import { connectRuntime, readLocator } from '@custody/runtime'
import { expect, test } from 'vitest'
import { startProgram } from './start-program.js'
import { temporaryDirectory } from './temporary-directory.js'

/** The path of a published runtime's locator. */
async function serve(): Promise<string> {
  const directory = temporaryDirectory()
  const path = join(directory, 'locator.json')
  await startProgram('serving.js', { args: [path], env: { XDG_RUNTIME_DIR: directory } }).printed(/ready/)
  return path
}

test('does not hold its process after it has closed, however long it would have waited', async () => {
  const asking = startProgram('asking-patiently.js', { args: [await serve()] })
  await asking.printed(/asked serving/)
  expect(await asking.exited).toEqual({ code: 0, signal: null })
})

test('ends its session when it is disposed of, and leaves the runtime alone', async () => {
  const locator = readLocator(await serve())
  const client = await connectRuntime(locator)
  await client[Symbol.asyncDispose]()
  await client.ended
  await expect(client.identify()).rejects.toMatchObject({ code: 'CUSTODY_CONNECTION_CLOSED' })
  const next = await connectRuntime(locator)
  expect(await next.identify()).toMatchObject({ state: 'serving' })
  next.close()
})
