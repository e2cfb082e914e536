import { custody } from '@custody/jest'
import { describe, expect, test } from '@jest/globals'
import { describeTwoNamespaces } from './suite.js'

describeTwoNamespaces({ custody, describe, test, expect })
