import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('job.mjs', import.meta.url))
const asRoot = process.geteuid?.() === 0 ? [] : ['--map-root-user']
// A mutant may signal whomever it can: the first process, or all. Here these are a shell, and what its own tests have started.
const unshare = [...asRoot, '--pid', '--fork', '--kill-child', '--mount-proc', '/bin/sh', '-c', '"$@"; exit $?', 'sh']

/**
 * @typedef {object} Mutant
 * @property {string} path the module's file
 * @property {string} code what stands there instead, for its tests and for whatever they start
 * @property {readonly string[]} tests files
 * @property {Readonly<Record<string, readonly string[]>> | null} ids which tests of each file; null for all
 */

/** @typedef {{ failure: string | null, reached: readonly { test: string, id: string, checks: readonly number[] }[] }} Outcome */

/** A pid namespace in which the tests of mutants run, one after the other. It is made anew when a mutant has broken it. */
export class Box {
  #job = null
  #directory = ''

  /**
   * Runs the tests of a mutant until one fails.
   * @param {Mutant} mutant
   * @param {number} limitMs
   * @returns {Promise<Outcome>}
   */
  async run(mutant, limitMs) {
    const job = await this.#open()
    const told = new AbortController()
    const { signal } = told
    const outcome = await Promise.race([
      once(job, 'message', { signal }).then(([outcome]) => outcome),
      once(job, 'exit', { signal }).then(() => 'it ended whoever runs it'),
      setTimeout(limitMs, 'it did not end in time', { signal }),
      new Promise((_, reject) => job.send(mutant, (error) => error && reject(error))),
    ])
    told.abort()
    if (typeof outcome !== 'string') return outcome
    job.kill('SIGKILL')
    await this.close()
    return { failure: outcome, reached: [] }
  }

  /** Ends everything in it. */
  async close() {
    const job = this.#job
    this.#job = null
    if (job === null) return
    if (job.exitCode === null && job.signalCode === null) {
      const exited = once(job, 'exit')
      if (job.connected) job.disconnect()
      await exited
    }
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #open() {
    if (this.#job !== null) return this.#job
    this.#directory = mkdtempSync(join(tmpdir(), 'm-'))
    const job = spawn('unshare', [...unshare, process.execPath, script], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { ...process.env, TMPDIR: this.#directory },
    })
    const [first] = await Promise.race([once(job, 'message'), once(job, 'exit')])
    if (first !== 'ready')
      throw new Error('The tests of mutants run in a pid namespace of their own, and `unshare` gives none here.')
    this.#job = job
    return job
  }
}
