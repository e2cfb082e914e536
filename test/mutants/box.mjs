import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('job.mjs', import.meta.url))
const asRoot = process.geteuid?.() === 0 ? [] : ['--map-root-user']
// A mutant may signal whomever it can: the first process, or all. Here these are a shell, and what its own tests have started.
const unshare = [...asRoot, '--pid', '--fork', '--kill-child', '--mount-proc', '/bin/sh', '-c', '"$@"; exit $?', 'sh']

/** A pid namespace in which the tests of mutants run, one after the other. It is made anew when a mutant has broken it. */
export class Box {
  #job = null
  #directory = ''

  /**
   * @param {object} mutant
   * @param {number} limitMs
   * @returns {Promise<string | null>} how the tests have failed, or null
   */
  async run(mutant, limitMs) {
    const job = await this.#open()
    let timer
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, limitMs, 'it did not end in time')
    })
    const ended = new AbortController()
    const gone = once(job, 'exit', ended).then(
      () => 'it ended whoever runs it',
      () => {},
    )
    const told = new Promise((resolve) => job.once('message', resolve))
    job.send(mutant, () => {})
    const failure = await Promise.race([
      told.then((failed) => ({ failed })),
      Promise.race([late, gone]).then((broken) => ({ broken })),
    ])
    clearTimeout(timer)
    ended.abort()
    if (failure.broken === undefined) return failure.failed
    await this.close()
    return failure.broken
  }

  /** Ends everything in it. */
  async close() {
    const job = this.#job
    this.#job = null
    if (job === null) return
    if (job.exitCode === null && job.signalCode === null) {
      const exited = once(job, 'exit')
      job.kill('SIGKILL')
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
