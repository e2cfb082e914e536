import { TaskdError } from '../errors.js'

const BODY_BYTES = 64 * 1024

/**
 * The JSON object in a request, an empty one when it has no body.
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<Record<string, unknown>>}
 */
export async function readBody(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_BYTES) throw invalid(`the body has more than ${BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  const body = bytes === 0 ? {} : parse(Buffer.concat(chunks).toString())
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('the body is not a JSON object')
  return body
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** @param {string} problem */
export function invalid(problem) {
  return new TaskdError({ code: 'invalid_request', message: `Could not read the request: ${problem}.` })
}
