import { custody } from '@custody/jest'
import { describe, expect, test } from '@jest/globals'
import { describeTransfers } from './behaviours/transfers.js'

describeTransfers({ custody, describe, test, expect })
