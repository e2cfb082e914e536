import { connectRuntime, readLocator } from '@custody/runtime'
import { hasCode, TaskdError } from '../errors.js'
import { locatorPath } from '../home.js'

/**
 * A server that has proved itself: the process that published this very locator, and not a copy of it.
 * @typedef {object} FoundServer
 * @property {'serving' | 'draining'} state
 * @property {number} pid
 * @property {import('@custody/runtime').Locator} locator
 * @property {import('@custody/runtime').RuntimeClient} client an open session; whoever found it closes it
 */

/**
 * Looks for the server of a home.
 * @param {string} home canonical
 * @returns {Promise<FoundServer | { state: 'none' } | { state: 'unproven' }>} `unproven`: there is a locator, and nobody proves to be it
 */
export async function findServer(home) {
  const path = locatorPath(home)
  const locator = read(path)
  if (locator === null) return { state: 'none' }
  const client = await connect(locator)
  if (client === null) return { state: 'unproven' }
  try {
    const { pid, locator: published, state } = await client.identify()
    // The token alone proves too little: it comes along when a home is copied.
    if (published !== path) throw foreign(path, published, pid)
    return { state: state === 'serving' ? 'serving' : 'draining', pid, locator, client }
  } catch (error) {
    client.close()
    if (hasCode(error, 'CUSTODY_CONNECTION_CLOSED')) return { state: 'unproven' }
    throw error
  }
}

function read(path) {
  try {
    return readLocator(path)
  } catch (error) {
    if (hasCode(error, 'CUSTODY_LOCATOR_MISSING')) return null
    throw error
  }
}

async function connect(locator) {
  try {
    return await connectRuntime(locator)
  } catch (error) {
    const isNobody = hasCode(error, 'CUSTODY_CONNECT_FAILED', 'CUSTODY_CONNECTION_CLOSED')
    const isStranger = hasCode(error, 'CUSTODY_PROOF_FALSE', 'CUSTODY_ANSWER_GARBAGE', 'CUSTODY_UNSAFE_DIRECTORY')
    if (isNobody || isStranger) return null
    throw error
  }
}

function foreign(path, published, pid) {
  return new TaskdError({
    code: 'foreign_locator',
    message: `The server (pid ${pid}) that ${path} names is not of this home: it published ${published}. It was left alone.`,
    pid,
    published,
    hint: `this home is a copy; give it a server of its own: rm ${path}`,
  })
}
