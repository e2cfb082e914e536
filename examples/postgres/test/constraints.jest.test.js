import { custody } from '@custody/jest'
import { describe, expect, test } from '@jest/globals'
import { describeConstraints } from './behaviours/constraints.js'

describeConstraints({ custody, describe, test, expect })
