import { custody } from '@custody/vitest'
import { describe, expect, test } from 'vitest'
import { describeTransfers } from './behaviours/transfers.js'

describeTransfers({ custody, describe, test, expect })
