import { CustodyError } from '@custody/runtime/internals'
import type { Swept } from '../supervisor/protocol.js'
import { withoutSecrets } from '../tree/without-secrets.js'

/** The error that a process is which not even SIGKILL has ended. */
export function notEnded({ command, identity }: Swept): CustodyError {
  const shown = withoutSecrets(command)
  const observed = `Could not end pid ${identity.pid}, which was born in this run: ${shown.join(' ')}`
  return new CustodyError('CUSTODY_NOT_STOPPED', observed, {
    hint: 'it does not even obey SIGKILL: it may wait for a device or a file system.',
    facts: { identity, command: shown },
  })
}
