import { describe, expect, test } from 'vitest'
import type { StartSpec } from '../options/start-spec.js'
import { checkSpec } from './check-spec.js'

const spec = (changes: object = {}) => ({ name: 'api', command: ['node', 'server.js'], ...changes }) as unknown as StartSpec
const refused = (option: string, message: string | RegExp = '') =>
  expect.objectContaining({
    code: 'CUSTODY_INVALID_OPTION',
    message: expect.stringMatching(message),
    facts: expect.objectContaining({ option }),
  })

describe('takes', () => {
  test.each<[string, object]>([
    ['a list', {}],
    ['a text', { command: 'node server.js --port=3000' }],
    ['a function', { command: () => ['node'] }],
    ['a text for a shell', { command: 'node server.js | tee "$HOME/log"', shell: true }],
    ['a name like a package', { name: '@scope/api-server_1.2' }],
    ['ports', { ports: ['http', 'metrics_2'] }],
    ['no time at all', { readyMs: 0, graceMs: 0 }],
    ['any time', { readyMs: Infinity, graceMs: 1.5 }],
    ['one condition', { ready: { log: /ready/ } }],
    ['several conditions', { ports: ['http'], ready: [{ port: 'http' }, { http: '/' }, { file: 'x' }] }],
    [
      'every other option',
      { cwd: '/', env: { A: undefined }, needs: [], onExit: 'ignore', daemonizes: true, stopSignal: 'SIGINT' },
    ],
  ])('%s', (_, changes) => expect(() => checkSpec(spec(changes))).not.toThrow())
})

describe('refuses, and names the option,', () => {
  test.each<[string, string, object]>([
    ['an option that there is not', 'redy', { redy: {} }],
    ['no name', 'name', { name: undefined }],
    ['an empty name', 'name', { name: '' }],
    ['a long name', 'name', { name: 'x'.repeat(65) }],
    ['a name with a space', 'name', { name: 'a b' }],
    ['no command', 'command', { command: undefined }],
    ['an empty list', 'command', { command: [] }],
    ['ports that are no list', 'ports', { ports: 'http' }],
    ['a port that is no name', 'ports', { ports: ['3000'] }],
    ['a negative time', 'readyMs', { readyMs: -1 }],
    ['a time that is none', 'graceMs', { graceMs: Number.NaN }],
    ['a time in words', 'graceMs', { graceMs: '1s' }],
    ['a stop signal that cannot be obeyed', 'stopSignal', { stopSignal: 'SIGKILL' }],
    ['a word for what to do at an exit', 'onExit', { onExit: 'nope' }],
    ['a port that is null', 'ports', { ports: [null] }],
    ['ports with the same variable', 'ports', { ports: ['http', 'HTTP'] }],
    ['an environment that is a text', 'env', { env: 'A=1' }],
    ['a variable that is no text', 'env', { env: { A: 5n } }],
    ['a directory that is a number', 'cwd', { cwd: 5 }],
    ['a blank command', 'command', { command: '  ' }],
    ['a program without a name', 'command', { command: ['', 'x'] }],
    ['an argument that is a number', 'command', { command: ['node', 5] }],
    ['a need without an instance that is a text', 'needs', { needs: [{ name: 'db', instance: 5 }] }],
    ['a yes for a truth', 'daemonizes', { daemonizes: 'yes' }],
    ['a log that is a number', 'ready.log', { ready: { log: 4 } }],
    ['a stream that there is not', 'ready.stream', { ready: { log: 'x', stream: 'both' } }],
    ['more than a condition has', 'ready.nope', { ready: { log: 'x', nope: 1 } }],
    ['a file that is null', 'ready.file', { ready: { file: null } }],
    ['a socket that is a number', 'ready.socket', { ready: { socket: 5 } }],
    ['an argument of a condition that is a number', 'ready.exec', { ready: { exec: ['sh', 5] } }],
    ['a status in words', 'ready.http.status', { ready: { http: { url: 'http://localhost/', status: 'ok' } } }],
    ['more than a request has', 'ready.http.stauts', { ready: { http: { url: 'http://localhost/', stauts: 200 } } }],
    ['a word for what is shown', 'logs', { logs: 'all' }],
    ['a condition of no kind', 'ready', { ready: { url: '/' } }],
    ['a condition of two kinds', 'ready', { ready: { log: 'x', file: 'x' } }],
    ['a second condition that is wrong', 'ready', { ready: [{ log: 'x' }, {}] }],
    ['a port that is not one of its own', 'ready.port', { ports: ['http'], ready: { port: 'https' } }],
    ['a port where it has none', 'ready.port', { ready: { port: 'http' } }],
  ])('%s', (_, option, changes) => expect(() => checkSpec(spec(changes))).toThrow(refused(option)))

  test.each([...'|&;<>()$`\\"\'*?~#\n'])('the character %j of a shell where there is none', (character) => {
    expect(() => checkSpec(spec({ command: `node a${character}b` }))).toThrow(refused('command', 'shell: true'))
  })

  test.each([null, undefined, 'node server.js'])('%j instead of options', (given) => {
    expect(() => checkSpec(given as unknown as StartSpec)).toThrow(expect.objectContaining({ code: 'CUSTODY_INVALID_OPTION' }))
  })
})

test('takes a member that is undefined for one that is left out', () => {
  const given = { env: undefined, cwd: undefined, ready: undefined, ports: undefined }
  expect(() => checkSpec(spec(given as unknown as Partial<StartSpec>))).not.toThrow()
})

test.each([
  [{ name: undefined }, 'name is missing.\nHint: give 1 to 64 letters'],
  [{ ready: { log: 'x', streem: 'stdout' } }, 'there is no option ready.streem.\nHint: did you mean ready.stream?'],
  [{ ready: { http: { url: 'http://localhost/', stauts: 200 } } }, 'ready.http.stauts.\nHint: did you mean ready.http.status?'],
])('says what is missing, and what was meant: %j', (changes, message) => {
  expect(() => checkSpec(spec(changes as never))).toThrow(message)
})

test('says which ports there are', () => {
  expect(() => checkSpec(spec({ ports: ['http', 'ws'], ready: { port: 'https' } }))).toThrow(/http, ws/)
})
