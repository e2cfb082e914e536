import { custody } from '@custody/vitest'
import { describe, expect, test } from 'vitest'
import { describeConnections } from './behaviours/connections.js'

describeConnections({ custody, describe, test, expect })
