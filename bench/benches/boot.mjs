import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newRunId } from '../../packages/core/dist/namespace/namespace-id.js'
import { launchSupervisor } from '../../packages/core/dist/supervisor/launch-supervisor.js'
import { SupervisorLink } from '../../packages/core/dist/supervisor/link.js'
import { ownIdentity } from '../../packages/runtime/dist/internals.js'
import { msBetween, now } from '../measure/now.mjs'
import { scratch } from '../measure/scratch.mjs'

const program = fileURLToPath(new URL('../programs/empty.cjs', import.meta.url))

/** How fast the supervisor is there. */
export const bench = {
  about: 'From the spawn of the supervisor until it has answered, against an empty Node from its spawn to its exit.',
  floor: 'an empty Node',
  ours: 'the supervisor',
  contestants: ['an empty Node', 'a Node that says a word', 'the supervisor'],
  rounds: 30,
  metrics: [
    {
      key: 'ms',
      title: 'Boot, ms',
      digits: 1,
      goal: { of: 'ratio', atMost: 1.1, text: 'as fast as an empty Node, within a tenth' },
    },
  ],

  async open(name) {
    return { measure: { 'an empty Node': emptyNode, 'a Node that says a word': sayingNode, 'the supervisor': supervisor }[name] }
  },
}

const directory = scratch()

async function emptyNode() {
  const begunAt = now()
  await once(spawn(process.execPath, [program], { stdio: 'ignore' }), 'exit')
  return { ms: msBetween(begunAt, now()) }
}

async function sayingNode() {
  const begunAt = now()
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("ready")'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  const ms = msBetween(begunAt, now())
  await exited
  return { ms }
}

async function supervisor() {
  const runDirectory = mkdtempSync(join(directory, 'run-'))
  const identities = { runner: ownIdentity(), supervisor: null, sentinel: null }
  const run = { version: 1, id: newRunId(null), ...identities, storage: runDirectory, root: '/', created: '' }
  const begunAt = now()
  const child = launchSupervisor(runDirectory, run)
  child.ref()
  const exited = once(child, 'exit')
  const link = await SupervisorLink.open(runDirectory, { role: 'runner' })
  const ms = msBetween(begunAt, now())
  link.close()
  await exited
  return { ms }
}
