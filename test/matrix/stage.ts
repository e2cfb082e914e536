import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Locator, readLocator } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { sampleLocator } from '../runtime/sample-locator.js'
import { type Program, type StartOptions, spawnProgram } from '../runtime/spawn-program.js'
import type { Outcome } from './row.js'

/** The namespace of the test in which a row is played. */
export interface Place {
  readonly id: string
  /** The private directory of the namespace. Custody looks for locators in `place/`. */
  readonly directory: string
  /** The value of CUSTODY_NAMESPACE for what is born there. */
  readonly mark: string
  /** The process in which the test runs. */
  readonly pid: number
}

/**
 * Where a runtime is from. `another run`: the namespace of somebody else's tests. `nowhere`: started by hand. `claimed`: it says that it
 * is of the test's namespace, of which the kernel shows nothing. `the test`: born there.
 */
export type Birth = 'another run' | 'nowhere' | 'claimed' | 'the test'

export interface Runtime {
  readonly program: Program
  readonly locator: Locator
  readonly path: string
  /** Its home, with the locator in it. */
  readonly home: string
}

interface Listening {
  /** The path of its socket. */
  readonly at?: string
  readonly server?: Server | undefined
  /** Whether it stands before a runtime of the test, so that a shutdown may come to it. */
  readonly isOfRuntime?: boolean
}

interface Stranger {
  readonly name: string
  heard(): Promise<string | null>
  heardBefore: number
}

/** What a row's attacker works with. All that it starts are strangers to the test, and each keeps a record of what reaches it. */
export class Stage {
  readonly place: Place
  /** Where Custody looks for locators. Not made yet. */
  readonly found: string
  readonly #endings: (() => Promise<void> | void)[] = []
  readonly #strangers: Stranger[] = []
  readonly #files: string[] = []
  readonly #secrets = new Set<string>()

  constructor(place: Place) {
    this.place = place
    this.found = join(place.directory, 'place')
  }

  onEnd(end: () => Promise<void> | void): void {
    this.#endings.push(end)
  }

  /** A private directory elsewhere. */
  directory(): string {
    const path = realpathSync(mkdtempSync(join(tmpdir(), 'm-')))
    this.onEnd(() => rmSync(path, { recursive: true, force: true }))
    return path
  }

  /**
   * Starts a runtime that keeps a record.
   * @param name what it is called. `ours` is the test's own, which Custody may end
   */
  async startRuntime(
    name: string,
    birth: Birth,
    { home = this.directory(), ...options }: StartOptions & { home?: string } = {},
  ): Promise<Runtime> {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const base = this.directory()
    mkdirSync(join(base, 'registry'), { mode: 0o700 })
    const mark = {
      'another run': { CUSTODY_NAMESPACE: `${'e'.repeat(32)}.1.1:${base}` },
      nowhere: {},
      claimed: { CLAIMED: `${this.place.id}:${base}` },
      'the test': { CUSTODY_NAMESPACE: this.place.mark },
    }[birth]
    const env = { ...mark, ...options.env, HOME: home, XDG_RUNTIME_DIR: base, NAME: name }
    const program = this.spawn('daemons/keeping-a-record.js', { ...options, env })
    await program.printed(/serves/)
    const path = join(home, 'keeping-a-record.json')
    const locator = readLocator(path)
    this.keepSecret(locator.token)
    if (name !== 'ours') this.watch(name, program)
    return { program, locator, path, home }
  }

  /** Starts a process that publishes nothing. */
  async startStranger(options: StartOptions = {}): Promise<Pick<Locator, 'pid' | 'start'> & { program: Program }> {
    const program = this.spawn('processes/keeping-a-record.sh', options)
    await program.printed(/ready/)
    this.watch('stranger', program)
    return { pid: program.pid, start: runtimePlatform.readStart(program.pid), program }
  }

  /** A process that has ended. */
  async startGone(): Promise<Pick<Locator, 'pid' | 'start'>> {
    const program = this.spawn('processes/waiting.js', {})
    await program.printed(/ready/)
    const start = runtimePlatform.readStart(program.pid)
    program.child.kill('SIGKILL')
    await program.exited
    return { pid: program.pid, start }
  }

  /** Starts a program that Custody knows nothing of. */
  spawn(name: string, options: StartOptions): Program {
    return spawnProgram(name, options, (end) => this.onEnd(end))
  }

  /** Has its record in the report. */
  watch(name: string, program: Program): void {
    this.#strangers.push({ name, heardBefore: 0, heard: () => recordOf(program) })
  }

  /** A server of a stranger that does the same to everybody; what it is sent is in the record. */
  async listen(
    treat: (socket: Socket) => void,
    { at, isOfRuntime = false, server = createServer() }: Listening = {},
  ): Promise<string> {
    let heard = ''
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        heard += chunk.toString('latin1')
      })
      treat(socket)
    })
    const path = at ?? join(this.directory(), 'stranger.sock')
    await new Promise<void>((resolve) => server.listen(path, resolve))
    this.onEnd(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    if (!isOfRuntime)
      this.#strangers.push({ name: 'listener', heardBefore: 0, heard: async () => (server.listening ? heard : null) })
    return `unix:${path}`
  }

  /** A locator that is right in its form, in the place where Custody looks. */
  put(changes: Partial<Record<keyof Locator, unknown>>, name = 'forged'): void {
    const locator = { ...sampleLocator({ ...ownIdentity(), namespace: this.place.id, name }), ...changes }
    this.keepSecret(String(locator.token))
    this.write(`${name}.json`, JSON.stringify(locator))
  }

  /** A file in the place where Custody looks. */
  write(name: string, text: string): void {
    mkdirSync(this.found, { recursive: true, mode: 0o700 })
    writeFileSync(join(this.found, name), text, { mode: 0o600 })
  }

  keepSecret(token: string): void {
    this.#secrets.add(token)
    this.#secrets.add(Buffer.from(token, 'hex').toString('latin1'))
  }

  /** Has it in the report when a file of a stranger is not there any more. */
  watchFile(path: string): void {
    this.#files.push(path)
  }

  /** From here on Custody alone acts. */
  async begin(): Promise<void> {
    for (const stranger of this.#strangers) stranger.heardBefore = (await stranger.heard())?.length ?? 0
  }

  async report(): Promise<Pick<Outcome, 'strangers' | 'leaked' | 'removed'>> {
    const strangers = await Promise.all(
      this.#strangers.map(async ({ heard, heardBefore, name }) => {
        const all = await heard()
        return { name, isAlive: all !== null, heard: all?.slice(heardBefore) ?? '' }
      }),
    )
    const leaked = strangers.flatMap(({ heard, name }) =>
      [...this.#secrets].filter((secret) => heard.includes(secret)).map(() => name),
    )
    return { strangers, leaked, removed: this.#files.filter((path) => !existsSync(path)) }
  }

  async end(): Promise<void> {
    for (const end of this.#endings.reverse()) await end()
  }
}

/** All that a process has recorded, or null when it does not answer any more. It says so itself: one that is stopped would not. */
async function recordOf(program: Program): Promise<string | null> {
  // Twice: a signal that came before the first question is recorded before the second is answered.
  for (let asked = 0; asked < 2; asked++) {
    const count = program.output.split('that is all').length
    program.tell('is that all?')
    const hasAnswered = await Promise.race([
      program.printed(new RegExp(`(that is all[^]*){${count}}`)).then(() => true),
      program.exited.then(() => false),
    ])
    if (!hasAnswered) return null
  }
  return program.output.replaceAll('that is all\n', '')
}
