import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunHandle } from '@custody/core/worker'
import { expect, onTestFinished, test } from 'vitest'
import { checkHooks, isKnown } from './check-hooks.js'

function newRun(strict: boolean): RunHandle {
  const directory = mkdtempSync(join(tmpdir(), 'cst-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return { directory, options: { strict } } as RunHandle
}

test('a runner with all hooks is known', () => {
  expect(isKnown({ onTaskUpdate: true, onAfterRunTask: true })).toBe(true)
  expect(isKnown({ onTaskUpdate: true, onAfterRunTask: false })).toBe(false)
})

test('a runner without one gets a line at the end of the run that names it, and what becomes of it', async () => {
  const run = newRun(false)
  await checkHooks({ onTaskUpdate: false, onAfterRunTask: true }, run)
  const [line = ''] = readFileSync(join(run.directory, 'events.jsonl'), 'utf8').split('\n').filter(Boolean)
  expect(JSON.parse(line).text).toMatch(
    /^Could not hook into this Vitest as into others: it does not use onTaskUpdate .* at their files\.$/,
  )
})

test('with strict it is an error', async () => {
  const checking = checkHooks({ onTaskUpdate: true, onAfterRunTask: false }, newRun(true))
  await expect(checking).rejects.toMatchObject({ code: 'CUSTODY_RUNNER_UNKNOWN', facts: { missing: ['onAfterRunTask'] } })
})
