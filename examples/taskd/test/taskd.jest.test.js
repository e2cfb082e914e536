import { custody } from '@custody/jest'
import { describe, expect, test } from '@jest/globals'
import { describeTaskd } from './suite.js'

describeTaskd({ custody, describe, test, expect })
