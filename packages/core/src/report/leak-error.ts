import { basename } from 'node:path'
import { CustodyError } from '@custody/runtime/internals'
import type { Left } from '../leaks/find-left.js'
import type { SpawnSite } from '../namespace/birth.js'
import { platform } from '../platform/index.js'
import { leadTo } from './stack-of-site.js'

/** Arguments that are shown of a command. */
const MAX_ARGUMENTS = 12

/** The error that a process is to who has left it. */
export function leakError(
  { command, descendants, identity, site }: Left,
  starter: { readonly name: string; readonly sites: readonly SpawnSite[] },
): CustodyError {
  const { pid } = identity
  const { ageMs, cwd, listensOn } = platform.describeProcess(pid)
  const facts = [
    ...(ageMs === null ? [] : [`${(ageMs / 1_000).toFixed(1)} s old`]),
    ...listensOn.map((address) => `listens on ${address}`),
    ...(cwd === null ? [] : [`cwd ${cwd}`]),
    ...(descendants.length === 0 ? [] : [`with ${descendants.map((each) => `pid ${each.pid}`).join(', ')} below it`]),
  ]
  const shown = command.slice(0, MAX_ARGUMENTS).map(shorten)
  const line = shown.join(' ') || '(no command line)'
  // A script is named by its file, any other program by itself.
  const named = shown.find((part, at) => at > 0 && /\.\w+$/.test(part)) ?? shown[0] ?? 'program'
  const name = basename(named).replace(/\.\w+$/, '')
  const port = listensOn.length > 0
  const spec = [
    `name: ${quote(name.replace(/[^\w.-]/g, '-') || 'program')}`,
    `command: [${shown.map(quote).join(', ')}]`,
    ...(port ? ["ports: ['http']", "ready: { port: 'http' }"] : []),
  ]
  const error = new CustodyError(
    'CUSTODY_LEAK',
    [
      'A process that this test started is still alive.',
      `  pid ${pid}  ${line}   (${facts.join(', ')})`,
      `  started by ${starter.name}`,
      `  start it with:  await custody.start({ ${spec.join(', ')} })`,
      `  or declare it:  allow: [{ argv: [${[...shown.slice(0, 2).map((part, at) => quote(at === 0 ? basename(part) : part)), quote('**')].join(', ')}], reason: '…', until: 'scope' }]`,
    ].join('\n'),
    { hint: 'stop it in the test or in its finalizers, or do one of these.', facts: { pid, command, startedBy: starter.name } },
  )
  error.name = 'CustodyLeakError'
  // Who has left a daemon behind has ended; its line is one of those of its test.
  leadTo(site ?? starter.sites[0], error)
  return error
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
