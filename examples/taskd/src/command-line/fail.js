import { TaskdError } from '../errors.js'

/**
 * Says on stderr what went wrong.
 * @param {unknown} error
 * @param {boolean} isJson
 * @returns {1 | 2} the exit code: refused, or wrong usage
 */
export function fail(error, isJson) {
  const envelope = envelopeOf(error)
  console.error(isJson ? JSON.stringify({ error: envelope }) : describe(envelope))
  return envelope.code === 'wrong_usage' ? 2 : 1
}

/** @returns {import('../errors.js').Envelope} */
function envelopeOf(error) {
  if (error instanceof TaskdError) return error.envelope
  const { code, message, hint, stack } = error
  // What has no code is a fault of this program.
  if (code === undefined) return { code: 'internal', message: stack }
  // The errors of @custody/runtime say their hint in the message as well.
  return { code, message: hint === undefined ? message : message.replace(`\nHint: ${hint}`, ''), hint }
}

function describe({ code, message, hint, ...facts }) {
  const said = code === 'lease_refused' ? describeRefusal(facts) : message
  return `taskd: ${said}${hint === undefined ? '' : `\nHint: ${hint}`}`
}

function describeRefusal({ reason, task, held }) {
  const holder = held === null ? 'Nobody holds it now.' : `${held.holder} holds it until ${held.expiresAt}.`
  const reasons = {
    stale: `This lease of task ${task} has ended.`,
    foreign: `This is no lease of task ${task}.`,
    held: `Task ${task} is taken.`,
  }
  return `${reasons[reason]} ${holder}`
}
