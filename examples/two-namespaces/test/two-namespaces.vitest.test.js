import { custody } from '@custody/vitest'
import { describe, expect, test } from 'vitest'
import { describeTwoNamespaces } from './suite.js'

describeTwoNamespaces({ custody, describe, test, expect })
