import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BASELINE_FILE, readBaseline, writeBaseline } from '../../packages/core/src/adapter/baseline-file.js'
import { findFixed, isKnown, updated } from '../../packages/core/src/leaks/baseline.js'
import { type LeakSignature, normalizeCommand } from '../../packages/core/src/leaks/signature.js'
import { captureGlobs, captureRegistry } from '../../packages/core/src/locators/capture.js'
import { exemptScopes, readExemptions } from '../../packages/core/src/supervisor/exemptions.js'
import { type JournalEntry, readJournal, writeJournal } from '../../packages/core/src/supervisor/journal.js'
import { EXEMPTIONS_FILE, type Exemption, writeExemption } from '../../packages/core/src/supervisor/write-exemption.js'
import { temporaryDirectory } from '../runtime/temporary-directory.js'
import { hasUndefined, identities, locators, mangled, namespaceIds } from './arbitraries.js'
import { check } from './check.js'

const files = fc.array(fc.record({ dev: fc.nat(), ino: fc.nat() }), { maxLength: 2 })
const entries: fc.Arbitrary<JournalEntry> = fc.record({
  id: namespaceIds,
  name: fc.string({ unit: 'grapheme' }),
  identity: identities,
  files,
})

const known = fc.array(identities, { maxLength: 2 })
const allowances = fc.record({
  argv: fc.tuple(fc.string({ minLength: 1 })),
  reason: fc.string({ minLength: 1 }),
  until: fc.constantFrom('scope', 'run'),
})
const exemptions: fc.Arbitrary<Exemption> = fc.oneof(
  fc.record({ type: fc.constant('scope' as const), scope: namespaceIds, known }),
  fc.record({ type: fc.constant('processes' as const), known }),
  fc.record({ type: fc.constant('allowed' as const), scope: namespaceIds, allowance: allowances }) as fc.Arbitrary<Exemption>,
)

test('a journal is read as it was written, and as far as it was, wherever its writer died', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'journal.jsonl')
  await check(
    fc.property(fc.array(entries, { maxLength: 4 }), fc.nat(), (written, end) => {
      rmSync(path, { force: true })
      for (const entry of written) writeJournal(directory, entry)
      expect(readJournal(directory)).toEqual(written)
      if (written.length === 0) return
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.subarray(0, end % bytes.length))
      const read = readJournal(directory)
      expect(read).toEqual(written.slice(0, read.length))
      // Each ends a line, and begins one.
      const lines = bytes.subarray(0, end % bytes.length).filter((byte) => byte === 0x0a).length
      expect(read.length).toBeGreaterThanOrEqual(Math.floor(lines / 2))
    }),
    250,
  )
})

test('a journal and exemptions tell of all others, though one was written in part, as on a full disk', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'journal.jsonl')
  await check(
    fc.property(entries, entries, exemptions, exemptions, fc.nat(), (a, b, c, d, end) => {
      for (const name of readdirSync(directory)) rmSync(join(directory, name))
      const cut = (value: object) =>
        Buffer.from(JSON.stringify(value)).subarray(0, end % Buffer.byteLength(JSON.stringify(value)))
      for (const each of [a, b]) {
        writeFileSync(path, cut(a), { flag: 'a' })
        writeJournal(directory, each)
      }
      for (const each of [c, d]) {
        writeFileSync(join(directory, EXEMPTIONS_FILE), cut(d), { flag: 'a' })
        writeExemption(directory, each)
      }
      expect(readJournal(directory)).toEqual([a, b])
      expect(readExemptions(directory)).toEqual([c, d])
    }),
    100,
  )
})

test('exemptions are read as they were written, and the whole ones of those that were cut', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, EXEMPTIONS_FILE)
  await check(
    fc.property(fc.array(exemptions, { minLength: 1, maxLength: 4 }), fc.nat(), (written, end) => {
      rmSync(path, { force: true })
      for (const each of written) writeExemption(directory, each)
      expect(readExemptions(directory)).toEqual(written)
      expect(exemptScopes(written).some(hasUndefined)).toBe(false)
      const bytes = readFileSync(path)
      const cut = bytes.subarray(0, end % bytes.length)
      writeFileSync(path, cut)
      const read = readExemptions(directory)
      expect(read).toEqual(written.slice(0, read.length))
      expect(read.length).toBeGreaterThanOrEqual(Math.floor(cut.filter((byte) => byte === 0x0a).length / 2))
    }),
    250,
  )
})

test('a registry gives the entries of a scope, whatever else lies there', async () => {
  const directory = temporaryDirectory()
  const registry = join(directory, 'registry')
  mkdirSync(registry)
  const scope = 'a'.repeat(32)
  const names = fc.oneof(
    fc
      .tuple(
        fc.constantFrom(scope, `${scope}.f1`, `${scope}.f1.2`, `${scope}0`, 'b'.repeat(32), ''),
        fc.stringMatching(/^[0-9a-f]{4}$/),
      )
      .map(([id, instance]) => `${id}--${instance}.json`),
    fc.stringMatching(/^[.a-z-]{3,12}$/),
  )
  const contents = fc.oneof(
    locators.map((locator) => JSON.stringify(locator)),
    mangled(locators.map((locator) => JSON.stringify(locator))),
    fc.string({ unit: 'binary' }),
  )
  await check(
    fc.property(
      fc.uniqueArray(fc.tuple(names, contents, fc.constantFrom(0o600, 0o600, 0o644)), {
        selector: ([name]) => name,
        maxLength: 4,
      }),
      (lying) => {
        for (const name of readdirSync(registry)) rmSync(join(registry, name))
        for (const [name, content, mode] of lying) if (!/^\.*$/.test(name)) writeFileSync(join(registry, name), content, { mode })
        const captured = captureRegistry(directory, scope)
        expect(captured.map(({ path }) => path).toSorted()).toEqual(
          readdirSync(registry)
            .filter((name) => name.startsWith(`${scope}--`) || name.startsWith(`${scope}.`))
            .map((name) => join(registry, name))
            .toSorted(),
        )
        expect(captured.some(hasUndefined)).toBe(false)
        for (const { locator, unreadable } of captured) expect(locator === null).toBe(unreadable !== null)
        const globbed = captureGlobs(['registry/*'], directory).locators
        expect(globbed.length).toBe(readdirSync(registry).length)
      },
    ),
    200,
  )
})

const signatures: fc.Arbitrary<LeakSignature> = fc.record({
  project: fc.constantFrom('', 'a'),
  file: fc.constantFrom('', 'a.test.ts', 'b.test.ts'),
  test: fc.constantFrom('', 'x', 'x > y', 'x y'),
  argv: fc.array(fc.constantFrom('node', 'a.js', '<n>', '\0'), { maxLength: 2 }),
})

test('a baseline is read as it was written, in whichever order it was found, and knows no other leak', async () => {
  const directory = temporaryDirectory()
  const leaks = fc.array(signatures, { maxLength: 6 })
  await check(
    fc.property(leaks, leaks, signatures, fc.array(fc.nat(), { maxLength: 6 }), (before, found, other, order) => {
      const all = updated(before, found, [])
      const turned = found.map((leak, at) => [order[at] ?? 0, leak] as const).toSorted(([a], [b]) => a - b)
      expect(
        updated(
          before,
          turned.map(([, leak]) => leak),
          [],
        ),
      ).toEqual(all)
      writeBaseline(directory, all)
      const baseline = readBaseline(directory, {})
      expect(baseline).toEqual({ isUpdated: false, leaks: all })
      for (const leak of [...before, ...found]) expect(isKnown(leak, baseline)).toBe(true)
      const isAmong = [...before, ...found].some((leak) => JSON.stringify(sorted(leak)) === JSON.stringify(sorted(other)))
      expect(isKnown(other, baseline)).toBe(isAmong)
      // What was found is never fixed.
      const judged = [{ project: '', file: 'a.test.ts', passed: ['x', 'x > y', 'x y'], isWhole: true }]
      const fixed = findFixed({ isUpdated: false, leaks: all }, found, judged, () => true)
      for (const leak of found) expect(isKnown(leak, { isUpdated: false, leaks: fixed })).toBe(false)
    }),
    250,
  )
})

test('whatever stands in a baseline, it is one, or is refused with its path', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, BASELINE_FILE)
  const true_ = fc.array(signatures, { maxLength: 3 }).map((leaks) => JSON.stringify({ version: 1, leaks }))
  await check(
    fc.property(fc.oneof(true_, mangled(true_), fc.json(), fc.string({ unit: 'binary' })), (text) => {
      writeFileSync(path, text)
      try {
        const baseline = readBaseline(directory, {})
        expect(hasUndefined(baseline)).toBe(false)
        expect(baseline?.leaks).toEqual(JSON.parse(readFileSync(path, 'utf8')).leaks)
      } catch (error) {
        expect(error).toMatchObject({ code: 'CUSTODY_INVALID_OPTION', facts: { path } })
      }
    }),
    500,
  )
})

test('a command is normalized once and for all', async () => {
  const words = fc.oneof(fc.string(), fc.stringMatching(/^[-=/a-zA-Z0-9_:.]{0,30}$/), fc.webUrl())
  await check(
    fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), (command) => {
      const once = normalizeCommand(command, '/home/me/project')
      expect(once).toHaveLength(command.length)
      expect(once.join(' ')).not.toContain('/home/me')
      expect(hasUndefined(once)).toBe(false)
    }),
    500,
  )
})

const sorted = ({ argv, file, project, test }: LeakSignature) => [project, file, test, argv]
