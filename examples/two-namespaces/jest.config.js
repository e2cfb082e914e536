import { withCustody } from '@custody/jest/config'
import { options } from './options.js'

export default withCustody({ testMatch: ['**/*.jest.test.js'], transform: {}, testTimeout: 30_000 }, options)
