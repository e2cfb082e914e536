import { custody } from '@custody/vitest'
import { describe, expect, test } from 'vitest'
import { describeAccounts } from './behaviours/accounts.js'

describeAccounts({ custody, describe, test, expect })
