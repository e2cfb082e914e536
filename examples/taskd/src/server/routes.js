import { TaskdError } from '../errors.js'
import { invalid } from './read-body.js'

/** A lease may be this long: a day. */
const TTL_MS = 24 * 60 * 60 * 1000

const rules = {
  title: (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 1000,
  holder: (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 200,
  ttlMs: (value) => Number.isSafeInteger(value) && value > 0 && value <= TTL_MS,
  lease: (value) => typeof value === 'string' && value !== '',
  off: (value) => typeof value === 'boolean',
}

/** Actions on one task: which fields a request must have, and which it may have. */
const actions = {
  lease: { needs: ['holder', 'ttlMs'], takes: [] },
  renew: { needs: ['lease', 'ttlMs'], takes: [] },
  complete: { needs: ['lease'], takes: [] },
  copy: { needs: [], takes: ['lease'] },
  pause: { needs: [], takes: ['lease', 'off'] },
}

/**
 * Answers one request, synchronously.
 * @param {import('../tasks/tasks.js').Tasks} tasks
 * @param {string} method
 * @param {string} path
 * @param {Record<string, unknown>} body
 */
export function answer(tasks, method, path, body) {
  const [, collection, id, action] = path.split('/').map(decode)
  if (collection === 'tasks') {
    if (method === 'GET' && id === undefined) return tasks.list()
    if (method === 'GET' && action === undefined) return tasks.inspect(id)
    if (method === 'POST' && id === undefined) return tasks.add(check(body, ['title'], []))
    if (method === 'POST' && Object.hasOwn(actions, action)) {
      return tasks[action](id, check(body, actions[action].needs, actions[action].takes))
    }
  }
  throw new TaskdError({ code: 'no_such_route', message: `There is no ${method} ${path}.` })
}

function decode(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalid('its path is malformed')
  }
}

function check(body, needs, takes) {
  for (const field of needs) if (!(field in body)) throw invalid(`the field "${field}" is missing`)
  for (const [field, value] of Object.entries(body)) {
    if (!needs.includes(field) && !takes.includes(field)) throw invalid(`the field "${field}" is unknown`)
    if (!rules[field](value)) throw invalid(`the field "${field}" is malformed`)
  }
  return body
}
