import type { Row } from './row.js'
import { borrowedLocators } from './rows/borrowed-locators.js'
import { listeners } from './rows/listeners.js'
import { moments } from './rows/moments.js'
import { numbers } from './rows/numbers.js'
import { remains } from './rows/remains.js'
import { sessions } from './rows/sessions.js'

/** The negative matrix. `docs/security.md` says what must never happen; each row tries to bring it about. */
export const rows: readonly Row[] = [...borrowedLocators, ...sessions, ...listeners, ...moments, ...remains, ...numbers]
