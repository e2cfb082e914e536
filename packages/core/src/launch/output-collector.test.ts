import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { OutputCollector } from './output-collector.js'

/** Runs a line of a shell to its exit, and gives what was collected up to that. */
async function collect(line: string) {
  const child = spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const exited = once(child, 'exit')
  onTestFinished(() => {
    child.stdout.destroy()
    child.stderr.destroy()
  })
  const output = new OutputCollector(child.stdout, child.stderr)
  await exited
  await output.drain()
  return { child, output, texts: output.texts() }
}

test('collects both streams apart and together', async () => {
  const { texts } = await collect('echo out; echo err >&2; echo more')
  expect(texts).toMatchObject({ stdout: 'out\nmore\n', stderr: 'err\n' })
  expect(texts.all).toHaveLength(13)
})

test('collects what is more than a pipe holds, to the last byte', async () => {
  const { texts } = await collect('head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2')
  expect([texts.stdout.length, texts.stderr.length]).toEqual([3_000_000, 3_000_000])
})

test('collects what still lies in the pipe when the command has exited', async () => {
  const child = spawn('head', ['-c', '100000', '/dev/zero'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const output = new OutputCollector(child.stdout, null)
  const exited = once(child, 'exit')
  // This process is busy for as long as that takes, and so hears of the exit before it has read everything.
  while (!readFileSync(`/proc/${child.pid}/stat`, 'latin1').includes(') Z '));
  await exited
  await output.drain()
  expect(output.texts().stdout).toHaveLength(100_000)
})

test('puts characters together that come in pieces', async () => {
  const { texts } = await collect(`i=0; while [ $i -lt 40 ]; do printf '\\342\\202'; printf '\\254'; i=$((i+1)); done`)
  expect(texts.stdout).toBe('€'.repeat(40))
})

test('does not wait for a helper that holds the output, reads on so that this can write, and drops what it says', async () => {
  // The helper waits for a line on a pipe that this test holds.
  const child = spawn('/bin/sh', ['-c', '{ read line; echo late; head -c 300000 /dev/zero; echo done >&3; } <&4 & echo early'], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  const [, , , done, tell] = child.stdio
  const output = new OutputCollector(child.stdout, child.stderr)
  await once(child, 'exit')
  await output.drain()
  expect(output.texts()).toEqual({ stdout: 'early\n', stderr: '', all: 'early\n' })
  ;(tell as NodeJS.WritableStream).write('go\n')
  const [text] = await once(done as NodeJS.ReadableStream, 'data')
  expect(String(text)).toBe('done\n')
  await once(child, 'close')
  expect(output.texts().all).toBe('early\n')
})

test('takes a stream that there is not', async () => {
  const output = new OutputCollector(null, null)
  await output.drain()
  expect(output.texts()).toEqual({ stdout: '', stderr: '', all: '' })
})
