import { join } from 'node:path'

/** Where the parts are that a configuration of Jest has by their paths. */
export const RUNNER: string = join(__dirname, 'runner.cjs')
export const SETUP: string = join(__dirname, 'global-setup.js')
export const TEARDOWN: string = join(__dirname, 'global-teardown.js')
export const REPORTER: string = join(__dirname, 'reporter.js')
