import type { Identity } from '@custody/runtime'
import type { NamespaceId } from '../namespace/namespace-id.js'

/** How whoever listens at the endpoint answered. */
export type Answer = 'authentic' | 'false' | 'garbage' | 'closed' | 'none'

/** What the kernel says about the process that the locator names. `unknowable`: another pid or time namespace, or no start time. */
export type Recorded = 'alive' | 'gone' | 'other boot' | 'unknowable'

/** Who of the test run itself the recorded process is. */
export type Role = 'this process' | 'an ancestor' | 'the runner' | 'a worker'

/** Whether the kernel shows that the process was born in the scope. */
export type Born = 'environment' | 'no' | 'unreadable'

/** What one captured locator and its live process have shown. Plain data: the judgement needs nothing else. */
export interface Evidence {
  readonly source: 'registry' | 'glob'
  /** The canonical path that was captured. */
  readonly path: string
  /** Why the file is no readable locator, or null. */
  readonly unreadable: string | null
  readonly scope: NamespaceId
  readonly role: Role | null
  /** Whether the recorded process is older than this run. */
  readonly isOlderThanRun: boolean
  /** Null when it was not asked. */
  readonly answer: Answer | null
  /** What the authentic process said of itself, checked for form. */
  readonly statement: 'complete' | 'malformed' | 'another instance' | null
  /** Its namespace, as it said; null for none. */
  readonly namespace: NamespaceId | null
  /** Whether that namespace is the scope or below it. */
  readonly isInScope: boolean
  /** Its frozen path, as it said. */
  readonly frozenPath: string | null
  /** Whether the frozen path or the registry entry is the captured path. */
  readonly isPathEqual: boolean
  readonly recorded: Recorded
  readonly born: Born
  /** Whether the kernel's start time of the stated process was the stated one, before and after it spoke. Without it no exit can be observed. */
  readonly isSeenAlive: boolean
  /** The process: as it said, or else as recorded. */
  readonly identity: Identity | null
}
