import { custody } from '@custody/vitest'
import { describe, expect, test } from 'vitest'
import { describeTaskd } from './suite.js'

describeTaskd({ custody, describe, test, expect })
