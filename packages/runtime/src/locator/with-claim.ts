import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { hasCode } from '../errors.js'
import { ownIdentity, platform } from '../platform/index.js'
import { isObject, parseJson } from '../wire/json.js'

/**
 * Does something that one process may do at a time. A claim is a file that names its holder; one whose holder has died is taken over
 * at once, a live one's never. The loser of a race does nothing: what it wanted to do is being done.
 */
export function withClaim(claim: string, action: () => void): void {
  if (!take(claim) && !(dropDead(claim) && take(claim))) return
  try {
    action()
  } finally {
    unlinkSync(claim)
  }
}

function take(claim: string): boolean {
  const { boot, pid, pidns, start } = ownIdentity()
  try {
    writeFileSync(claim, JSON.stringify({ boot, pid, pidns, start }), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Takes the claim of a dead holder away. Of all that try, the one whose rename succeeds does. */
function dropDead(claim: string): boolean {
  if (!isDead(claim)) return false
  const aside = `${claim}.${process.pid}`
  try {
    renameSync(claim, aside)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  unlinkSync(aside)
  return true
}

function isDead(claim: string): boolean {
  const holder = parseJson(readText(claim))
  const here = ownIdentity()
  if (!isObject(holder) || typeof holder['pid'] !== 'number' || typeof holder['start'] !== 'string') return false
  if (holder['boot'] !== here.boot) return true
  return holder['pidns'] === here.pidns && platform.readStart(holder['pid']) !== holder['start']
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}
