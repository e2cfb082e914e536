import { randomBytes } from 'node:crypto'
import { unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasCode } from '../errors.js'
import type { Identity } from '../identity.js'
import { hasEnded } from '../platform/has-ended.js'
import { ownIdentity } from '../platform/index.js'
import { readText } from '../text-file.js'
import { isObject, parseJson } from '../wire/json.js'
import { isFieldValid } from './locator.js'
import { putFile } from './put-file.js'

/**
 * Does something that one process may do at a time. A claim is a file that names its holder; one whose holder has died is taken over
 * at once, a live one's never. The loser of a race does nothing: what it wanted to do is being done.
 *
 * @returns whether it was done here
 */
export function withClaim(claim: string, action: () => void): boolean {
  if (!take(claim)) {
    removeDead(claim)
    if (!take(claim)) return false
  }
  try {
    action()
  } finally {
    unlinkSync(claim)
  }
  return true
}

function take(claim: string): boolean {
  try {
    putFile(claim, JSON.stringify(ownIdentity()), join(dirname(claim), `.${randomBytes(16).toString('hex')}`))
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/**
 * Takes the claim of a dead holder away, which again one process may do at a time: of two that have found it dead, the slower would
 * take away what the faster has put there since.
 */
function removeDead(claim: string): void {
  const text = textOf(claim)
  const holder = parseJson(text)
  if (!isIdentity(holder) || hasEnded(holder) !== true) return
  withClaim(`${claim}.${holder.pid}`, () => {
    if (textOf(claim) === text) unlinkSync(claim)
  })
}

const identityFields = ['pid', 'start', 'boot', 'pidns', 'timens'] as const

function isIdentity(value: unknown): value is Identity {
  return isObject(value) && identityFields.every((field) => isFieldValid(field, value[field]))
}

/** Empty when there is no such file. */
function textOf(path: string): string {
  try {
    return readText(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}
