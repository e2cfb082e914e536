// Runs through all tests: strangers that look like what the tests start, in the eyes of anybody who goes by a command line, a user, a session,
// or a port. They must be alive at the end, and must not have been asked for anything. Every act of Custody that was told names its proof.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownIdentity } from '@custody/runtime/internals'
import type { Act } from '../../packages/core/src/witness/witness.js'

interface LookAlike {
  readonly name: string
  readonly child: ChildProcess
  /** What it has printed since it was ready. */
  printed: string
}

/** A line of the file of the witnesses. */
export type ToldAct = Act & { readonly by: number; readonly pidns: string | null }

export default async function watchLookAlikes(): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'look-alikes-'))
  const acts = join(directory, 'acts.jsonl')
  process.env['CUSTODY_WITNESS'] = acts
  const lookAlikes = await Promise.all([
    start('daemons/obeying.js', { HOME: directory, XDG_RUNTIME_DIR: directory, LIVES_MS: String(24 * 3_600_000) }),
    start('servers/answering-http.js', { PORT: String(await findPort()) }),
    start('processes/counting-signals.js', {}),
    start('processes/waiting.js', {}),
  ])
  return async () => {
    try {
      const told = existsSync(acts) ? readActs(readFileSync(acts, 'utf8')) : []
      const complaints = [...lookAlikes.flatMap((each) => complaintsOf(each, told)), ...told.flatMap(complaintsOfAct)]
      if (complaints.length > 0) {
        // Vitest prints what a teardown throws, and ends as if nothing had been.
        process.exitCode = 1
        throw new Error(`Somebody was hurt:\n${complaints.join('\n')}`)
      }
      console.log(
        `${told.length} acts, each with its proof; ${lookAlikes.length} look-alikes are alive and were not asked for anything.`,
      )
    } finally {
      for (const { child } of lookAlikes) child.kill('SIGKILL')
      rmSync(directory, { recursive: true })
    }
  }
}

/** A free one in the range that Custody reserves ports from: its neighbours are those of runtimes. */
async function findPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

async function start(name: string, env: Readonly<Record<string, string>>): Promise<LookAlike> {
  const path = fileURLToPath(new URL(`../programs/${name}`, import.meta.url))
  // In this session and of this user, and without a namespace: nobody's.
  const options = {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  } satisfies SpawnOptions
  const child = spawn(process.execPath, [path], options)
  const lookAlike: LookAlike = { name, child, printed: '' }
  await new Promise<void>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      lookAlike.printed += text
      resolve()
    })
    child.once('message', () => resolve())
    child.once('exit', () => reject(new Error(`The look-alike ${name} has not started.`)))
  })
  lookAlike.printed = ''
  return lookAlike
}

function readActs(text: string): ToldAct[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ToldAct)
}

function complaintsOf({ child, name, printed }: LookAlike, told: readonly ToldAct[]): string[] {
  const { exitCode, pid, signalCode } = child
  if (exitCode !== null || signalCode !== null) return [`${name} (pid ${pid}) has ended: ${signalCode ?? `code ${exitCode}`}.`]
  const { start, state } = look(pid as number)
  // Small numbers of other pid namespaces are other processes.
  const here = told.filter(({ pidns }) => pidns === ownIdentity().pidns)
  const targeting = here.filter((act) => act.pid === pid && (act.start === start || act.start === null))
  return [
    ...(state === 'T' ? [`${name} (pid ${pid}) was stopped.`] : []),
    ...(printed === '' ? [] : [`${name} (pid ${pid}) was asked for something: ${printed}`]),
    ...targeting.map((act) => `${name} (pid ${pid}) was a target: ${JSON.stringify(act)}`),
  ]
}

/** Null where the system has no /proc. */
function look(pid: number): { state: string | null; start: string | null } {
  if (!existsSync('/proc/self/stat')) return { state: null, start: null }
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? null, start: fields[19] ?? null }
}

/** What every act must have, whatever it is. */
function complaintsOfAct(act: ToldAct): string[] {
  const isProven = typeof act.proof === 'string' && act.proof !== ''
  // A request goes to a socket: the number is what a runtime of another pid namespace says of itself.
  const isOfOne = act.act === 'shutdown request' || (Number.isSafeInteger(act.pid) && act.pid > 1)
  return isProven && isOfOne ? [] : [`An act without a proof, or at nobody: ${JSON.stringify(act)}`]
}
