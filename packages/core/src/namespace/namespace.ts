import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { NamespaceId } from './namespace-id.js'

/** A namespace as tests see it. Its directories are made when they are first asked for, and are private to it. */
export interface Namespace {
  readonly id: NamespaceId
  /** Its private directory. */
  readonly dir: string
  /** A home directory of its own. */
  readonly home: string
  /** A directory for temporary files of its own. */
  readonly tmp: string
  /** What makes a program live in it: HOME, USERPROFILE, XDG_*, TMPDIR, TEMP, TMP and CUSTODY_NAMESPACE. */
  readonly env: Readonly<Record<string, string>>
}

/** Where a run keeps its things. */
export interface RunPlace {
  readonly id: NamespaceId
  /** Registry and sockets: a short path. */
  readonly directory: string
  /** The directories of namespaces. */
  readonly storage: string
}

export class NamespaceDirectory implements Namespace {
  readonly id: NamespaceId
  readonly #run: RunPlace
  #isMade = false

  constructor(id: NamespaceId, run: RunPlace) {
    this.id = id
    this.#run = run
  }

  /** Whether anybody has asked for a directory. */
  get isMade(): boolean {
    return this.#isMade
  }

  get dir(): string {
    const path = join(this.#run.storage, 'ns', this.id.slice(this.#run.id.length + 1))
    if (!this.#isMade) mkdirSync(path, { recursive: true, mode: 0o700 })
    this.#isMade = true
    return path
  }

  get home(): string {
    return this.#inside('home')
  }

  get tmp(): string {
    return this.#inside('tmp')
  }

  get env(): Readonly<Record<string, string>> {
    const { home, tmp } = this
    return {
      HOME: home,
      USERPROFILE: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local', 'share'),
      XDG_STATE_HOME: join(home, '.local', 'state'),
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_RUNTIME_DIR: this.#inside('run'),
      TMPDIR: tmp,
      TEMP: tmp,
      TMP: tmp,
      CUSTODY_NAMESPACE: `${this.id}:${this.#run.directory}`,
    }
  }

  #inside(name: string): string {
    const path = join(this.dir, name)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  }
}
