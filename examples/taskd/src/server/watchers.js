/** Bytes that a watcher may leave unread before it is dropped. */
const BACKLOG_BYTES = 1024 * 1024

/** Everybody who reads the stream of events: one JSON object a line. */
export class Watchers {
  /** @type {Set<import('node:http').ServerResponse>} */
  #responses = new Set()

  get count() {
    return this.#responses.size
  }

  /** Resolves when the watcher has left. @param {import('node:http').ServerResponse} response @returns {Promise<void>} */
  add(response) {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.write(line({ event: 'watching' }))
    this.#responses.add(response)
    return new Promise((resolve) =>
      response.once('close', () => {
        this.#responses.delete(response)
        resolve()
      }),
    )
  }

  /** @param {string} event @param {unknown} task */
  announce(event, task) {
    for (const response of this.#responses) {
      if (response.writableLength > BACKLOG_BYTES) response.destroy()
      else response.write(line({ event, task }))
    }
  }

  /** A stream without end would hold the drain. */
  end() {
    for (const response of this.#responses) response.end()
  }
}

function line(value) {
  return `${JSON.stringify(value)}\n`
}
