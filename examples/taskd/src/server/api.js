import { timingSafeEqual } from 'node:crypto'
import { TaskdError } from '../errors.js'
import { readBody } from './read-body.js'
import { answer } from './routes.js'
import { Watchers } from './watchers.js'

/**
 * What requests need, and wait for: it is there when the server has published and opened its store.
 * @typedef {{ tasks: import('../tasks/tasks.js').Tasks, secret: string, store: string, track(): Disposable }} Service
 */

const statuses = {
  invalid_request: 400,
  unauthorized: 401,
  no_such_task: 404,
  no_such_route: 404,
  lease_refused: 409,
  task_not_open: 409,
  draining: 503,
  not_started: 503,
}

/** The HTTP API. */
export class Api {
  watchers = new Watchers()
  #isDraining = false
  /** @type {Set<Promise<void>>} */
  #accepted = new Set()
  #service

  /** @param {Promise<Service>} service */
  constructor(service) {
    this.#service = service
    // Each request says so itself; with none there is nobody to tell.
    service.catch(() => {})
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  handle(request, response) {
    const handled = this.#handle(request, response).finally(() => this.#accepted.delete(handled))
    this.#accepted.add(handled)
  }

  /** From now on requests, which can still come on open connections, are refused, and watchers sent home. */
  startDrain() {
    this.#isDraining = true
    this.watchers.end()
  }

  /** Resolves when all that was accepted is done, also for callers that have left. */
  async finished() {
    while (this.#accepted.size > 0) await Promise.all(this.#accepted)
  }

  async #handle(request, response) {
    try {
      if (this.#isDraining) throw new TaskdError({ code: 'draining', message: 'The server is shutting down.' })
      await this.#serve(request, response)
    } catch (error) {
      // A caller that left in the middle of its request has asked for nothing yet.
      if (!response.destroyed) refuse(response, error)
    }
  }

  async #serve(request, response) {
    const { tasks, secret, store, track } = await this.#service
    // Before it is counted: a stranger must not keep the server from its idle exit.
    if (!isAuthorized(request, secret)) throw new TaskdError({ code: 'unauthorized', message: 'The secret is missing or wrong.' })
    const work = track()
    try {
      const path = request.url
      if (path === '/watch') return await this.watchers.add(response)
      const body = await readBody(request)
      const status = () => ({ pid: process.pid, store, tasks: tasks.count, watchers: this.watchers.count })
      send(response, 200, path === '/status' ? status() : answer(tasks, request.method, path, body))
    } finally {
      work[Symbol.dispose]()
    }
  }
}

function isAuthorized(request, secret) {
  const given = Buffer.from(request.headers.authorization ?? '')
  const expected = Buffer.from(`Bearer ${secret}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function refuse(response, error) {
  if (error instanceof TaskdError) return send(response, statuses[error.code] ?? 500, { error: error.envelope })
  console.error(error)
  send(response, 500, { error: { code: 'internal', message: 'The server has failed; its log says why.' } })
}

function send(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
