import { withCustody } from '@custody/jest/config'

export default withCustody(
  {
    testMatch: ['**/*.jest.test.js'],
    globalSetup: './test/global-setup.js',
    globalTeardown: './test/global-teardown.js',
    maxWorkers: 2,
    transform: {},
    testTimeout: 30_000,
  },
  { report: { json: 'custody-report.json' } },
)
