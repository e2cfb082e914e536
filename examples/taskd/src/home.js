import { mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * The directory that belongs to one server: its locator, its tasks and its log.
 * @param {string} [asked] default: TASKD_HOME, else `.taskd` in the user's home
 * @returns {string} the canonical path of a directory that exists
 */
export function openHome(asked = process.env.TASKD_HOME || join(homedir(), '.taskd')) {
  mkdirSync(asked, { recursive: true, mode: 0o700 })
  return realpathSync.native(asked)
}

export const LOCATOR_NAME = 'taskd.json'

/** @param {string} home */
export function locatorPath(home) {
  return join(home, LOCATOR_NAME)
}

/** @param {string} home */
export function logPath(home) {
  return join(home, 'taskd.log')
}
