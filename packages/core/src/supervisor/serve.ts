import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import {
  appendLines,
  chooseEndpoint,
  hasCode,
  hasEnded,
  isObject,
  type Locator,
  listen,
  METHOD_NOT_FOUND,
  ownIdentity,
  type Peer,
  ProtocolServer,
  publishLocator,
  type RpcError,
} from '@custody/runtime/internals'
import { removeDirectory } from '../platform/index.js'
import type { Birthmark } from '../tree/birthmark.js'
import { ExitWatchList } from './exit-watch-list.js'
import { readLastPaths } from './last-paths.js'
import { type Reached, takeMeans } from './means.js'
import {
  type Attachment,
  type Ended,
  type SharedRuntime,
  type SpawnRequest,
  SUPERVISOR_LINE_BYTES,
  type Swept,
} from './protocol.js'
import { type RunRecord, writeRunRecord } from './run-record.js'
import { postSentinel } from './sentinel.js'
import { Supervisor } from './supervisor.js'

/** Where the supervisor can be reached, in the run's directory: an ordinary locator. */
export const SUPERVISOR_LOCATOR = 'supervisor.json'

/** Serves a run until its runner has gone and everything of it has been ended. */
export async function serve(runDirectory: string, run: RunRecord, lastGraceMs: number): Promise<void> {
  // A terminal's signals are for the runner. When that leaves, its connection ends.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  const sentinel = postSentinel(process.argv[1] as string, runDirectory, run)
  const record = { ...run, supervisor: ownIdentity(), sentinel: sentinel?.identity ?? null }
  writeRunRecord(runDirectory, record)

  // What it removes when its runner has told how the run went, and helpers of that runner still live.
  let lastPaths: readonly string[] = []
  const exits = new ExitWatchList()
  const supervisor = new Supervisor(
    {
      ...{ runId: run.id, runDirectory, runner: run.runner, lastGraceMs, allow: run.allow },
      ...{ commonHelpers: run.commonHelpers, isSwept: run.isSwept },
      takeMeans: () => {
        const means = takeMeans(run.mostLevel, run.id, [process.argv[1] as string, join(run.root, 'package.json')])
        // Whoever cleans up after this process may itself be in another group.
        if (means.groups !== null) writeRunRecord(runDirectory, { ...record, group: means.groups.path })
        return means
      },
    },
    ({ ended, isComplete, swept }) => {
      if (isComplete) sentinel?.dismiss()
      protocol.close()
      // The peers read the last words in a turn of their own. It leaves also when nothing can be written.
      setImmediate(() => process.exit(isComplete ? 0 : 1))
      const paths = lastPaths.length > 0 ? lastPaths : readLastPaths(runDirectory, run)
      if (paths.length === 0) recordEnded(runDirectory, [...ended, ...swept])
      if (!isComplete) return
      for (const path of paths) removeDirectory(path)
    },
  )
  process.on('SIGTERM', () => void supervisor.end())

  const locator = newLocator(runDirectory, run)
  const path = join(runDirectory, SUPERVISOR_LOCATOR)
  const answers: Record<string, (params: Record<string, unknown>, peer: Peer) => unknown> = {
    identify: () => ({ ...withoutSecrets(locator), locator: path, registryEntry: null, state: 'serving' }),
    ping: () => ({}),
    attach: (params, peer) => supervisor.attach(peer, params as unknown as Attachment),
    leave: (_params, peer) => supervisor.leave(peer),
    announce: ({ id }) => supervisor.announce(id as string),
    spawn: (params, peer) => supervisor.spawn(peer, params as unknown as SpawnRequest).catch(asSpawnError),
    adopt: ({ id }) => supervisor.adopt(id as string),
    stop: ({ id }) => supervisor.stopByHand(id as string),
    signal: ({ id, signal }) => supervisor.signal(id as string, signal as NodeJS.Signals),
    settle: ({ graceMs, isRerunNext, scope }) =>
      supervisor.settle(scope as string, graceMs as number | undefined, isRerunNext === true),
    removeLogs: ({ ids }) => supervisor.removeLogs(ids as readonly string[]),
    share: ({ fingerprint, key }, peer) => supervisor.share(peer, key as string, fingerprint as string),
    shared: ({ key, outcome }) => supervisor.shared(key as string, outcome as SharedRuntime | { problem: string }),
    sweep: ({ except }) => supervisor.sweep(except as readonly Birthmark[]),
    watch: ({ forMs, known }) => exits.watch(known as readonly Identity[], forMs as number),
    takeOutlived: () => exits.takeOutlived(),
    linger: ({ paths }) => {
      lastPaths = paths as readonly string[]
    },
    endLeft: ({ known, scope, spared }) =>
      supervisor.endLeft(scope as string, known as readonly Identity[], spared as readonly Identity[]),
    hasKept: () => supervisor.hasKept,
    streamed: () => supervisor.streamed,
    means: (): Reached => {
      const { level, mechanisms } = supervisor.means
      return { level, mechanisms }
    },
    end: () => supervisor.end(),
  }
  const protocol = new ProtocolServer(
    Buffer.from(locator.token, 'hex'),
    locator.endpoint,
    async (method, params, peer) => {
      const answer = Object.hasOwn(answers, method) ? answers[method] : undefined
      if (answer === undefined) throw METHOD_NOT_FOUND
      try {
        return await answer(isObject(params) ? params : {}, peer)
      } catch (error) {
        if (isObject(error) && typeof error['code'] === 'number') throw error
        console.error(error)
        throw asFault(error as Error)
      }
    },
    SUPERVISOR_LINE_BYTES,
  )
  await listen(protocol.server, locator.endpoint.slice(locator.endpoint.indexOf(':') + 1))
  await publishLocator(path, locator, async () => false)
  leaveWithoutRunner(run, supervisor)
}

/** A runner that died before it could connect would leave a supervisor for ever. */
function leaveWithoutRunner(run: RunRecord, supervisor: Supervisor): void {
  const look = setInterval(() => {
    if (supervisor.hasRunner) clearInterval(look)
    else if (hasEnded(run.runner) === true) void supervisor.end()
  }, 1_000)
}

function newLocator(runDirectory: string, run: RunRecord): Locator {
  const instance = randomBytes(16).toString('hex')
  return {
    version: 1,
    name: 'custody-supervisor',
    ...ownIdentity(),
    instance,
    namespace: run.id,
    endpoint: chooseEndpoint(instance, runDirectory),
    token: randomBytes(32).toString('hex'),
    created: new Date().toISOString(),
    details: {},
  }
}

function withoutSecrets({ details: _details, token: _token, ...locator }: Locator): object {
  return locator
}

/** What was ended when nobody was left to be told: the next run tells it. */
function recordEnded(runDirectory: string, ended: readonly (Ended | Swept)[]): void {
  try {
    appendLines(
      join(runDirectory, 'ended.jsonl'),
      ended.map((each) => JSON.stringify(each)),
    )
  } catch (error) {
    // Somebody has removed the run's directory: then there is no next run to be told.
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** Unlike a runtime's, its clients are Custody's own, and people read the text. */
function asFault({ message }: Error): RpcError {
  return { code: -32_603, message: `the supervisor has failed: ${message}` }
}

function asSpawnError(error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException
  const refusal: RpcError = { code: -32_001, message, data: { code: code ?? null } }
  throw refusal
}
