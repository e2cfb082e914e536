import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * The directory that belongs to one server: its locator, its tasks and its log.
 * @param {string} [asked] default: TASKD_HOME, else `.taskd` in the user's home
 * @returns {string} its canonical path; it may not exist yet
 */
export function findHome(asked = process.env.TASKD_HOME || join(homedir(), '.taskd')) {
  return existsSync(asked) ? realpathSync.native(asked) : resolve(asked)
}

/** @param {string} home @returns {string} the canonical path of a directory that exists now */
export function openHome(home) {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  return realpathSync.native(home)
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
