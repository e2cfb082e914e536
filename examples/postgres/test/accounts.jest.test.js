import { custody } from '@custody/jest'
import { describe, expect, test } from '@jest/globals'
import { describeAccounts } from './behaviours/accounts.js'

describeAccounts({ custody, describe, test, expect })
