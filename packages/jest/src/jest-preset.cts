import type { Config } from '@jest/types'
import { withCustody } from './config.cjs'

/**
 * Jest's preset: `preset: '@custody/jest'`, with the default options. What a configuration sets itself takes the place of the preset's
 * without a word, so whoever has a `globalSetup`, a `globalTeardown` or a `testRunner` needs `withCustody`.
 */
const preset: Config.InitialOptions = withCustody()

export = preset
