import { withCustody } from '@custody/jest/config'

export default withCustody(
  { testMatch: ['**/*.jest.test.js'], transform: {}, testTimeout: 30_000 },
  { report: { json: 'custody-report.json' } },
)
