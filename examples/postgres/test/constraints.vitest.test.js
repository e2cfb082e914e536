import { custody } from '@custody/vitest'
import { describe, expect, test } from 'vitest'
import { describeConstraints } from './behaviours/constraints.js'

describeConstraints({ custody, describe, test, expect })
