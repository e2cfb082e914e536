import { TextDecoder } from 'node:util'
import { CustodyError, hasCode } from '@custody/runtime/internals'
import { LOOK_BYTES, type LogFile } from '../log-file.js'
import { callWithin } from './call-within.js'
import type { Probe } from './probe.js'

/** So much of a line is kept when it does not end, in characters: a pattern sees what comes in pieces. */
const KEPT_CHARACTERS = 64 * 1024
/** How long one match may take to find, in milliseconds: a pattern that needs longer would need for ever. */
const MATCH_MS = 1_000

/** Holds when the output has matched as often as asked. */
export function logProbe(pattern: RegExp | string, count: number, stream: 'stdout' | 'stderr'): Probe {
  return async ({ ended, logs, matched, note, signal }) => {
    for await (const match of matches(logs[stream], pattern, signal, { ended })) {
      matched(match)
      if (--count === 0) return true
    }
    note(
      logs[stream].size === 0
        ? 'no output yet; a program may hold it back when it does not write to a terminal'
        : `no match of ${pattern} in its output`,
    )
    return false
  }
}

/**
 * The matches of a pattern in a log, as it grows. Patterns are evaluated here, in the process that asked: a hostile one holds up nobody else,
 * and this one no longer than a moment.
 * @param where `since`: the byte from which on to look; `ended`: aborts when nothing more is written
 * @throws CUSTODY_LOG_TIMEOUT
 */
export async function* matches(
  log: LogFile,
  pattern: RegExp | string,
  signal: AbortSignal,
  { ended, since = 0 }: { readonly since?: number; readonly ended?: AbortSignal } = {},
): AsyncGenerator<RegExpMatchArray> {
  const expression =
    typeof pattern === 'string' ? new RegExp(escapeRegExp(pattern), 'g') : new RegExp(pattern, globally(pattern.flags))
  const decoder = new TextDecoder()
  let text = ''
  for (let at = since; !signal.aborted; ) {
    const isLast = ended?.aborted ?? false
    const part = log.read(at)
    if (part.length === 0 && isLast) return
    if (part.length === 0) {
      // It was cut because it had grown too long: what comes now stands behind its new end.
      at = Math.min(at, log.size)
      await log.changed(signal, at)
      continue
    }
    at += part.length
    text += decoder.decode(part, { stream: true })
    // There is more, and it begins anywhere: a line that it cuts, a port's number maybe, is not looked at before it is whole.
    const whole = part.length === LOOK_BYTES ? text.lastIndexOf('\n') + 1 : 0
    let end = 0
    for (const match of matchesIn(whole > 0 ? text.slice(0, whole) : text, expression, pattern)) {
      end = match.index + match[0].length
      yield match
    }
    // Whole lines were looked at; what may become one is looked at again.
    text = text.slice(Math.max(end, text.lastIndexOf('\n') + 1)).slice(-KEPT_CHARACTERS)
  }
}

function* matchesIn(text: string, expression: RegExp, pattern: RegExp | string): Generator<RegExpExecArray> {
  const found = text.matchAll(expression)
  // A plain text cannot be hostile.
  const next = () => (typeof pattern === 'string' ? found.next() : callWithin(MATCH_MS, () => found.next()))
  try {
    for (let at = next(); at.done !== true; at = next()) yield at.value
  } catch (cause) {
    if (!hasCode(cause, 'ERR_SCRIPT_EXECUTION_TIMEOUT')) throw cause
    throw new CustodyError(
      'CUSTODY_LOG_TIMEOUT',
      `Could not look for ${pattern} in ${text.length} characters of output: that took more than ${MATCH_MS} ms.`,
      {
        hint: 'the pattern backtracks without end: write it so that a text can match it in one way only.',
        facts: { pattern: String(pattern), characters: text.length },
        cause,
      },
    )
  }
}

function globally(flags: string): string {
  return `${flags.replace(/[gy]/g, '')}g`
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
