import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { clock, Deadline, ownIdentity } from '@custody/runtime/internals'
import { captureGlobs, captureRegistry } from '../../packages/core/src/locators/capture.js'
import { parseOptions } from '../../packages/core/src/options/parse-options.js'
import type { RunHandle } from '../../packages/core/src/scope/run-handle.js'
import { type Settled, settleLocators } from '../../packages/core/src/scope/settle-locators.js'
import type { Captured } from '../../packages/core/src/scope/teardown.js'
import { sampleRun } from '../runtime/sample-run.js'
import { temporaryDirectory } from '../runtime/temporary-directory.js'
import { Host } from './host.js'

/** Where a runtime was born, as seen from the scope. Only the first three are its own; the third has lost its environment. */
export const births = [
  'in the scope',
  'below the scope',
  'in the scope, without a namespace',
  'above',
  'beside',
  'outside',
  'in another run',
] as const
export type Birth = (typeof births)[number]
const own: ReadonlySet<Birth> = new Set(births.slice(0, 3))

export interface Published {
  readonly host: Host
  readonly birth: Birth
  readonly isOwn: boolean
  readonly instance: string
  /** Each place where it published, with what it wrote there. */
  readonly places: ReadonlyMap<string, string>
}

/** Some places where runtimes publish, a scope that accounts for its own there, and others that have nothing to do with it. */
export class Machine {
  readonly runtimes: Published[] = []
  readonly places: string = temporaryDirectory()
  readonly #run: RunHandle
  readonly #other = runDirectory()
  readonly #scope: string
  readonly #hosts: { own: Host[]; others: Host[] } = { own: [], others: [] }
  #captured: Captured | null = null
  #named = 0

  constructor() {
    // Nobody here is older than the run, or a child of its runner: each is asked.
    const runner = { ...ownIdentity(), pid: 2 ** 22 + 1, start: '1' }
    const options = parseOptions({ timeouts: { proofMs: 20_000, graceMs: 30_000, teardownMs: 60_000 } }, {})
    this.#run = sampleRun(runDirectory(), { runner, options })
    this.#scope = `${this.#run.id}.f1.1`
  }

  /** Starts a runtime that publishes at a place; nothing when that is taken. */
  async publish(birth: Birth, place: string): Promise<void> {
    const isOwn = own.has(birth)
    const host = this.#hosts[isOwn ? 'own' : 'others'].pop() ?? this.#newHost(isOwn)
    // The next one is on its way while this one works.
    if (this.#hosts.own.length === 0) this.#hosts.own.push(this.#newHost(true))
    const locator = join(this.places, place)
    const variable = this.#variableOf(birth)
    const instance = await host.serve({ name: `r${this.#named++}`, locator, variable, exit: isOwn })
    if (instance === null) return void this.#hosts[isOwn ? 'own' : 'others'].push(host)
    const [namespace, directory = ''] = variable?.split(':') ?? []
    const entries = variable === null ? [] : [join(directory, 'registry', `${namespace}--${instance}.json`)]
    const places = new Map([locator, ...entries].map((path) => [path, readFileSync(path, 'utf8')]))
    this.runtimes.push({ host, birth, isOwn, instance, places })
  }

  /** Ends a runtime without a word: what it has published stays. */
  async kill(which: number): Promise<void> {
    const [runtime] = this.runtimes.splice(which % Math.max(1, this.runtimes.length), 1)
    await runtime?.host.kill()
  }

  /** Ends a runtime, and starts another of its kind at its place. */
  async restart(which: number): Promise<void> {
    const runtime = this.#pick(which)
    if (runtime === null) return
    await this.kill(which)
    await this.publish(runtime.birth, basename([...runtime.places.keys()][0] as string))
  }

  /** Does something to a file that lies where runtimes publish, or in the registry. */
  handle(act: Handling, which: number, place: string): void {
    const files = this.#files()
    const file = files[which % Math.max(1, files.length)]
    const target = join(this.places, place)
    if (file === undefined || file === target) return
    const content = () => readFileSync(file, 'utf8')
    switch (act) {
      case 'copy':
        return write(target, content())
      case 'register': // A forged entry, which says that it was born in the scope.
        return write(join(this.#run.directory, 'registry', `${this.#scope}--${String(which).padStart(32, '0')}.json`), content())
      case 'rename':
        return renameSync(file, target)
      case 'remove':
        return rmSync(file)
      case 'link':
        return existsSync(target) ? undefined : linkSync(file, target)
      case 'symlink':
        rmSync(target, { force: true })
        return symlinkSync(file, target)
      case 'tamper': {
        const said = JSON.parse(content())
        const claims = [
          { namespace: this.#scope },
          { instance: 'e'.repeat(32) },
          { pid: 2 ** 22 + 1 },
          { path: target },
          { start: '1' },
        ]
        return write(target, JSON.stringify({ ...said, ...claims[which % claims.length] }))
      }
    }
  }

  /** Takes away all that a runtime has published, and leaves a copy of it elsewhere. */
  strand(which: number, place: string): void {
    const runtime = this.#pick(which)
    const target = join(this.places, place)
    if (runtime === null || runtime.places.has(target)) return
    const [content = ''] = runtime.places.values()
    write(target, content)
    for (const path of runtime.places.keys()) rmSync(path, { force: true })
  }

  capture(): void {
    this.#captured = this.#look()
  }

  /** @returns what came of it, and those that it had to retire */
  async tearDown(): Promise<{ findings: Settled[]; faults: unknown[]; due: readonly Published[] }> {
    const due = this.runtimes.filter(
      (runtime) => runtime.isOwn && [...runtime.places].some(([path, content]) => isIntact(path, content)),
    )
    const settler = {
      id: this.#scope,
      run: this.#run,
      accounted: new Set<string>(),
      starterOf: () => ({ kind: 'file', name: 'a', sites: [] }),
    }
    const time = { begunAt: clock.now(), deadline: Deadline.after(60_000) }
    const { faults, findings } = await settleLocators(settler, this.#captured, () => this.#look(), time)
    this.#captured = null
    for (const { host } of due) await host.program.exited
    const left = this.runtimes.filter(({ host }) => host.isAlive)
    this.runtimes.splice(0, this.runtimes.length, ...left)
    return { findings, faults, due }
  }

  /** Those that are none of the scope's business. */
  get strangers(): readonly Published[] {
    return this.runtimes.filter(({ isOwn }) => !isOwn)
  }

  /** Makes everything as it was in the beginning. */
  async reset(): Promise<void> {
    for (const { host, isOwn } of this.runtimes.splice(0)) {
      if (isOwn) await host.kill()
      else {
        await host.close()
        this.#hosts.others.push(host)
      }
    }
    this.#captured = null
    const registries = [this.#run.directory, this.#other].map((directory) => join(directory, 'registry'))
    for (const directory of [this.places, ...registries]) {
      for (const name of readdirSync(directory)) rmSync(join(directory, name))
    }
  }

  #newHost(isOwn: boolean): Host {
    const { directory } = this.#run
    const birth = isOwn ? { CUSTODY_NAMESPACE: `${this.#scope}:${directory}` } : {}
    return new Host({ HOME: directory, XDG_RUNTIME_DIR: this.#other, TMPDIR: directory, ...birth })
  }

  #variableOf(birth: Birth): string | null {
    const { directory, id } = this.#run
    switch (birth) {
      case 'in the scope':
        return `${this.#scope}:${directory}`
      case 'below the scope':
        return `${this.#scope}.2:${directory}`
      case 'above':
        return `${id}.f1:${directory}`
      case 'beside':
        return `${this.#scope}1:${directory}`
      case 'in another run':
        return `${'f'.repeat(32)}.f1.1:${this.#other}`
      default:
        return null
    }
  }

  #pick(which: number): Published | null {
    return this.runtimes[which % Math.max(1, this.runtimes.length)] ?? null
  }

  #files(): string[] {
    return [this.places, join(this.#run.directory, 'registry')].flatMap((directory) =>
      readdirSync(directory)
        .filter((name) => !name.startsWith('.'))
        .map((name) => join(directory, name))
        .filter((path) => lstatSync(path).isFile()),
    )
  }

  #look(): Captured {
    const { cutShort, locators } = captureGlobs([join(this.places, '*.json')], null)
    return { locators: [...captureRegistry(this.#run.directory, this.#scope), ...locators], cutShort }
  }
}

export const handlings = ['copy', 'register', 'rename', 'remove', 'link', 'symlink', 'tamper'] as const
export type Handling = (typeof handlings)[number]

function runDirectory(): string {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'registry'), { mode: 0o700 })
  return directory
}

/** Replaces what is there, but not what a link leads to. */
function write(path: string, text: string): void {
  rmSync(path, { force: true })
  writeFileSync(path, text, { mode: 0o600 })
}

function isIntact(path: string, content: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path, 'utf8') === content
}
