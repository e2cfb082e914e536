import { custody } from '@custody/jest'
import { describe, expect, test } from '@jest/globals'
import { describeConnections } from './behaviours/connections.js'

describeConnections({ custody, describe, test, expect })
