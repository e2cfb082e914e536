import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { askers, listeners, openContestant } from '../contestants/index.mjs'
import { newServer } from '../measure/new-server.mjs'
import { msBetween, now } from '../measure/now.mjs'
import { endAll, identityOf, isAlive } from '../measure/process-table.mjs'
import { scratch } from '../measure/scratch.mjs'

const trees = fileURLToPath(new URL('../../test/programs/trees/', import.meta.url))
/** So long a stop may take, in milliseconds. */
const LIMIT_MS = 10_000
const LATER_MS = 1_000

/** Whom a stop leaves behind. */
export const bench = {
  about:
    'Stops a server with one tree of each kind below it: in sessions of their own, forked twice, deaf to SIGTERM, answering it with a ' +
    'new process, stopped, without an environment, without descriptors, without a master.',
  contestants: [...listeners, ...askers],
  rounds: 3,
  metrics: [
    {
      key: 'survivors',
      title: `Processes of the tree alive ${LATER_MS / 1_000} s after the stop resolved`,
      isCount: true,
      goal: { of: 'most', atMost: 0, text: 'none' },
    },
    { key: 'alive', title: 'Processes of the tree alive when the stop resolved', isCount: true },
    { key: 'size', title: 'Processes of the tree before', isCount: true },
    { key: 'stopMs', title: `The stop, ms; ${LIMIT_MS} when it did not resolve`, digits: 0 },
  ],

  async open(name) {
    const contestant = await openContestant(name)
    const directory = scratch()
    return {
      async measure() {
        const notes = `${directory}/notes-${now()}`
        const server = await newServer(directory, ({ port, programs, stampPath }) => [
          ...['/bin/sh', join(programs, 'serving-above-a-tree.sh'), trees, notes],
          ...[process.execPath, join(programs, 'serving.cjs'), String(port), stampPath],
        ])
        const started = await contestant.start(server)
        const { pid } = await server.stamp()
        const before = [identityOf(pid), ...readNotes(notes)].filter(isAlive)
        const askedAt = now()
        await Promise.race([started.stop(), pause(LIMIT_MS)])
        const stopMs = msBetween(askedAt, now())
        // The stop may have made some that were not there before.
        const alive = [...before, ...readNotes(notes).filter((each) => !isAmong(before, each))].filter(isAlive)
        await pause(LATER_MS)
        const later = [...alive, ...readNotes(notes).filter((each) => !isAmong(alive, each))].filter(isAlive)
        endAll(later)
        return { size: before.length, alive: alive.length, survivors: later.length, stopMs }
      },
      close: () => contestant.close?.(),
    }
  },
}

/** The processes of a tree write down who they are. */
function readNotes(path) {
  const directory = join(path, '..')
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .filter((each) => each.startsWith(path) && !each.endsWith('.log'))
    .flatMap((each) => readFileSync(each, 'utf8').trim().split('\n'))
    .map((line) => line.split(' '))
    .map(([pid, start]) => ({ pid: Number(pid), start }))
}

function isAmong(identities, { pid, start }) {
  return identities.some((each) => each.pid === pid && each.start === start)
}
