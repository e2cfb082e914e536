import { randomBytes } from 'node:crypto'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Locator, readLocator } from '@custody/runtime'
import { Deadline, openSession, ownIdentity, ProtocolServer, publishLocator } from '@custody/runtime/internals'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { parseOptions } from '../../packages/core/src/options/parse-options.js'
import { type Settler, settleOne } from '../../packages/core/src/scope/settle-locators.js'
import { PROTOCOL, serverProof, sessionKey } from '../../packages/runtime/src/wire/proof.js'
import { SealedLines } from '../../packages/runtime/src/wire/sealed-lines.js'
import { sampleLocator } from '../runtime/sample-locator.js'
import { sampleRun } from '../runtime/sample-run.js'
import { temporaryDirectory } from '../runtime/temporary-directory.js'
import { catchSignals } from '../witness/catch-signals.js'
import { collectActs } from '../witness/collect-acts.js'
import { anything, inPieces, mangled } from './arbitraries.js'
import { check } from './check.js'

/** Far less than what the server gives a stranger: nobody here waits for a time to run out. */
const PROMPT_MS = 60_000

const cuts = fc.array(fc.nat(), { maxLength: 6 })
const bytes = fc.uint8Array({ minLength: 1, maxLength: 80 }).map((array) => Buffer.from(array))
const requests = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.nat(), method: fc.constantFrom('identify', 'shutdown') }),
  fc.record(
    {
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.nat(), fc.string(), fc.constant(null)),
      method: fc.constantFrom('identify', 'shutdown', 'hello', '__proto__', 'constructor', ''),
      params: fc.json().map((json) => JSON.parse(json)),
    },
    { requiredKeys: ['method'] },
  ),
  fc.json().map((json) => JSON.parse(json)),
)
const texts = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.nat({ max: 5_000 }).map((length) => 'x'.repeat(length)),
)

/** Changes that JSON does not see are none. */
const insertions = mangled(fc.constant('')).filter((text) => text.trim() !== '')

/** What somebody does who knows the token, or who does not. */
const sealed = fc.record({ kind: fc.constant('sealed' as const), message: requests })
const steps = fc.oneof(
  fc.record({ kind: fc.constant('hello' as const) }),
  sealed,
  fc.record({ kind: fc.constant('mangled' as const), message: requests, with: insertions }),
  fc.record({ kind: fc.constant('line' as const), text: texts }),
  fc.record({ kind: fc.constant('bytes' as const), bytes }),
)
const manners = fc.oneof(
  fc.array(steps, { maxLength: 5 }),
  fc
    .array(fc.oneof({ weight: 4, arbitrary: sealed }, { weight: 1, arbitrary: steps }), { maxLength: 5 })
    .map((rest) => [{ kind: 'hello' as const }, ...rest]),
)

async function listening(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
}

/** What is said, or that it takes too long. */
async function promptly<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${PROMPT_MS} ms`)), PROMPT_MS)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

test('a server answers nothing but true requests, whatever it is sent, and goes on to serve', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const locator = sampleLocator({ endpoint: `unix:${path}` })
  const answered: string[] = []
  const server = new ProtocolServer(Buffer.from(locator.token, 'hex'), locator.endpoint, async (method) => {
    answered.push(method)
    return { method }
  })
  await listening(server.server, path)
  let requested = 0

  await check(
    fc.asyncProperty(manners, cuts, async (manner, at) => {
      answered.length = 0
      const nonce = randomBytes(32).toString('hex')
      const socket = connect(path)
      const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      socket.on('error', () => {})
      const heard: string[] = []
      const hello = new Promise<SealedLines | null>((resolve) => {
        let text = ''
        socket.on('data', (chunk) => {
          text += chunk
          const lines = text.split('\n')
          text = lines.pop() as string
          for (const line of lines) {
            if (heard.push(line) !== 1) continue
            const { nonce: theirs } = JSON.parse(line).result
            resolve(new SealedLines(sessionKey(Buffer.from(locator.token, 'hex'), nonce, theirs, locator.endpoint), 'client'))
          }
        })
        void gone.then(() => resolve(null))
      })
      /** Null as long as nothing wrong was said; then nothing more is answered. */
      let session: SealedLines | null = null
      let isDropped = false
      const expected: string[] = []
      for (const step of manner) {
        if (step.kind === 'hello') {
          socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'hello', params: { protocol: PROTOCOL, nonce } })}\n`)
          if (session !== null || isDropped) isDropped = true
          else session = await promptly(hello, 'a hello')
          continue
        }
        if (step.kind === 'line' || step.kind === 'bytes') {
          const said = step.kind === 'line' ? Buffer.from(`${step.text}\n`) : step.bytes
          for (const piece of inPieces(said, at)) socket.write(piece)
          isDropped = true
          // What comes behind it belongs to its line, or comes after the end.
          break
        }
        const lines = session ?? new SealedLines(randomBytes(32), 'client')
        const line = lines.seal(step.message)
        const isChanged = step.kind === 'mangled'
        const sent = isChanged ? `${line.slice(0, 9)}${step.with}${line.slice(9)}` : line
        for (const piece of inPieces(Buffer.from(sent), at)) socket.write(piece)
        const method = (step.message as { method?: unknown } | null)?.method
        if (session === null || sent !== line || typeof method !== 'string') isDropped = true
        else if (!isDropped) expected.push(method)
        if (isDropped) break
      }
      socket.end()
      await promptly(gone, 'the end of the connection')
      // The end may come before the last answers: none is made up.
      expect(expected.slice(0, answered.length)).toEqual(answered)
      requested += answered.length
    }),
    200,
  )
  expect(requested).toBeGreaterThan(20)

  const session = await openSession(locator, Deadline.after(20_000))
  expect(await session.call('identify', {}, Deadline.after(20_000))).toEqual({ method: 'identify' })
  session.close()
})

/** What a listener answers to a hello, and after it: the truth, something like it, or anything. */
interface Listener {
  readonly greeting:
    | 'true'
    | 'of another token'
    | 'of another endpoint'
    | { readonly changed: string }
    | { readonly bytes: Buffer }
  readonly answers: readonly ('true' | { readonly changed: string } | { readonly body: unknown } | { readonly bytes: Buffer })[]
}

const changed = fc.record({ changed: insertions })
const listeners: fc.Arbitrary<Listener> = fc.record({
  greeting: fc.oneof(
    { weight: 3, arbitrary: fc.constant('true' as const) },
    { weight: 1, arbitrary: fc.constantFrom('of another token' as const, 'of another endpoint' as const) },
    { weight: 1, arbitrary: changed },
    { weight: 1, arbitrary: bytes.map((given) => ({ bytes: given })) },
  ),
  answers: fc.array(
    fc.oneof(
      fc.constant('true' as const),
      changed,
      anything.map((body) => ({ body })),
      bytes.map((given) => ({ bytes: given })),
    ),
    { maxLength: 3 },
  ),
})

/** Listens at a locator's endpoint the way that `manner` is at the moment. It hangs up when it has said all. */
async function listenInManner(
  locator: () => Locator,
  manner: () => Listener,
  cutsOf: () => readonly number[],
  path: string,
): Promise<Server> {
  const speak = (socket: Socket, text: string | Buffer) => {
    for (const piece of inPieces(Buffer.from(text), cutsOf())) socket.write(piece)
  }
  const server = createServer((socket) => {
    const { answers, greeting } = manner()
    const { endpoint, token } = locator()
    socket.on('error', () => {})
    let lines: SealedLines | null = null
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      const said = text.split('\n')
      text = said.pop() as string
      for (const line of said) {
        if (lines === null) {
          const { id, params } = JSON.parse(line)
          const nonce = randomBytes(32).toString('hex')
          const secret = greeting === 'of another token' ? randomBytes(32) : Buffer.from(token, 'hex')
          const place = greeting === 'of another endpoint' ? `${endpoint}x` : endpoint
          lines = new SealedLines(sessionKey(secret, params.nonce, nonce, place), 'server')
          const proof = serverProof(secret, params.nonce, nonce, place)
          const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { protocol: PROTOCOL, nonce, proof } })
          if (typeof greeting === 'string') speak(socket, `${answer}\n`)
          else if ('bytes' in greeting) speak(socket, greeting.bytes)
          else speak(socket, `${answer.slice(0, 70)}${greeting.changed}${answer.slice(70)}\n`)
          if (typeof greeting !== 'string') socket.end()
          continue
        }
        const request = lines.open(line) as { id: number } | null
        for (const answer of answers) {
          const sealed = lines.seal({ jsonrpc: '2.0', id: request?.id ?? 0, result: statement(locator()) })
          if (answer === 'true') speak(socket, sealed)
          else if ('bytes' in answer) speak(socket, answer.bytes)
          else if ('changed' in answer) speak(socket, `${sealed.slice(0, 9)}${answer.changed}${sealed.slice(9)}`)
          else speak(socket, lines.seal(safe({ jsonrpc: '2.0', id: request?.id, result: answer.body })))
        }
        socket.end()
      }
    })
  })
  await listening(server, path)
  return server
}

const statement = ({ boot, endpoint, instance, name, namespace, pid, pidns, start, timens }: Locator) => ({
  ...{ name, pid, start, boot, pidns, timens, instance, namespace, endpoint },
  ...{ locator: '/x.json', registryEntry: null, state: 'serving' },
})

/** The same as JSON has it. */
function safe(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    return { ...value, result: 'what JSON has no text for' }
  }
}

test('a client believes nothing but a true proof and true answers, whatever it is told, and always comes to an end', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const locator = sampleLocator({ endpoint: `unix:${path}` })
  let manner: Listener = { greeting: 'true', answers: [] }
  let at: readonly number[] = []
  await listenInManner(
    () => locator,
    () => manner,
    () => at,
    path,
  )
  const seen = { proven: 0, answered: 0 }
  await check(
    fc.asyncProperty(listeners, cuts, async (listener, cut) => {
      manner = listener
      at = cut
      const ask = async () => {
        const session = await openSession(locator, Deadline.after(20_000))
        seen.proven++
        expect(listener.greeting).toBe('true')
        return session.call('identify', {}, Deadline.after(20_000)).finally(() => session.close())
      }
      const [outcome] = await promptly(Promise.allSettled([ask()]), 'an answer')
      if (outcome?.status === 'fulfilled') {
        seen.answered++
        const [first] = listener.answers
        if (first === 'true') expect(outcome.value).toEqual(statement(locator))
        else expect(first).toHaveProperty('body')
        return
      }
      expect(outcome?.reason).toMatchObject({
        code: expect.stringMatching(/^CUSTODY_(CONNECTION_CLOSED|PROOF_FALSE|ANSWER_GARBAGE)$/),
      })
      if (typeof listener.greeting === 'string' && listener.greeting !== 'true') {
        expect(outcome?.reason).toMatchObject({ code: 'CUSTODY_PROOF_FALSE' })
      }
    }),
    200,
  )
  expect(Math.min(seen.proven, seen.answered)).toBeGreaterThan(10)
})

test('no answer and no silence leads to a signal, nor to a request to who has not proved himself', async () => {
  const sent = catchSignals()
  const acts = collectActs()
  const directory = temporaryDirectory()
  const path = join(directory, 'a.sock')
  const scope = 'a'.repeat(32)
  // Not of this process, which would not be asked at all; and gone, so that nobody is waited for.
  const locator: Locator = {
    ...sampleLocator({ endpoint: `unix:${path}`, namespace: `${scope}.f1` }),
    ...ownIdentity(),
    pid: 2 ** 22 + 1,
  }
  await publishLocator(join(directory, 'a.json'), locator, async () => false)
  const captured = { source: 'glob', path: '/x.json', locator: readLocator(join(directory, 'a.json')), unreadable: null } as const
  let manner: Listener = { greeting: 'true', answers: [] }
  await listenInManner(
    () => locator,
    () => manner,
    () => [],
    path,
  )
  const runner = { ...ownIdentity(), pid: 2 ** 22 + 2, start: '1' }
  const options = parseOptions({ timeouts: { proofMs: 20_000, graceMs: 30_000, teardownMs: 60_000 } }, {})
  const run = sampleRun(directory, { id: scope, runner, options })
  const settler: Settler = { id: scope, run, accounted: new Set(), starterOf: () => ({ kind: 'file', name: 'a', sites: [] }) }
  const verdicts = new Map<string, number>()
  await check(
    fc.asyncProperty(listeners, async (listener) => {
      manner = listener
      acts.length = 0
      const settling = settleOne(settler, [captured], { begunAt: 0, deadline: Deadline.after(20_000) })
      // What a runtime answers may be no answer at all: that is a fault of its own.
      const settled = await promptly(settling.catch(String), 'a settlement')
      const verdict = typeof settled === 'string' ? settled : settled.receipt.verdict
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
      if (verdict === 'owned') expect([listener.greeting, listener.answers[0]]).toEqual(['true', 'true'])
      else expect(acts).toEqual([])
      expect(sent).toEqual([])
    }),
    100,
  )
  expect([...verdicts.keys()]).toEqual(expect.arrayContaining(['owned', 'gone']))
})
