import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { ownIdentity } from '../platform/index.js'
import { canonicalPath, publishLocator } from './publication.js'

const alive = async () => false
const gone = async () => true
const look = (path: string) => {
  const { ino, mode, size, mtimeMs } = lstatSync(path)
  return { beside: readdirSync(join(path, '..')), ino, mode, size, mtimeMs }
}
const neverAsked = async () => {
  throw new Error('It asked about a file that is no locator.')
}
const mine = sampleLocator({ instance: '1'.repeat(32), name: 'mine' })
const theirs = sampleLocator({ instance: '2'.repeat(32), name: 'theirs' })

function writePrivate(path: string, content: unknown): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  writeFileSync(path, text, { mode: 0o600 })
  return text
}

/** The claim of a live process on the locator of `theirs`. */
function claimOn(path: string): string {
  const claim = join(path, '..', `.locator.json.${theirs.instance}.stale`)
  writePrivate(claim, ownIdentity())
  return claim
}

test('publishes the whole locator with mode 0600 and nothing beside it', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'locator.json')
  const publication = await publishLocator(path, mine, neverAsked)
  expect(publication.path).toBe(path)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(mine)
  expect(lstatSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(directory)).toEqual(['locator.json'])
})

const strangers: [string, (path: string) => void][] = [
  ['a regular file', (path) => writePrivate(path, 'a letter')],
  ['an empty file', (path) => writePrivate(path, '')],
  ['half a locator', (path) => writePrivate(path, JSON.stringify(theirs).slice(0, 50))],
  ['a locator that others can read', (path) => writeFileSync(path, JSON.stringify(theirs), { mode: 0o644 })],
  ['a directory', (path) => mkdirSync(path)],
  ['a dangling symbolic link', (path) => symlinkSync('nowhere', path)],
  [
    'a symbolic link to a locator',
    (path) => {
      writePrivate(`${path}.target`, theirs)
      symlinkSync(`${path}.target`, path)
    },
  ],
]
test.each(strangers)('never publishes over %s', async (_, put) => {
  const path = join(temporaryDirectory(), 'locator.json')
  put(path)
  const before = look(path)
  await expect(publishLocator(path, mine, neverAsked)).rejects.toMatchObject({
    code: 'CUSTODY_PUBLICATION_FAILED',
    facts: { path, reason: 'something that is no locator of yours is there' },
  })
  expect(look(path)).toEqual(before)
})

test('never publishes over the locator of a runtime that may still run', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  const text = writePrivate(path, theirs)
  await expect(publishLocator(path, mine, alive)).rejects.toMatchObject({
    code: 'CUSTODY_PUBLICATION_FAILED',
    message: expect.stringContaining(`"theirs" (pid ${theirs.pid})`),
  })
  expect(readFileSync(path, 'utf8')).toBe(text)
  expect(readdirSync(join(path, '..'))).toEqual(['locator.json'])
})

test('replaces the locator of a runtime that is gone', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  writePrivate(path, theirs)
  await publishLocator(path, mine, gone)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(mine)
  expect(readdirSync(join(path, '..'))).toEqual(['locator.json'])
})

test('leaves a new locator alone that was put there while it looked at the old one', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  writePrivate(path, theirs)
  const newer = sampleLocator({ instance: '3'.repeat(32) })
  const replaceMeanwhile = async () => {
    rmSync(path)
    writePrivate(path, newer)
    return true
  }
  await expect(publishLocator(path, mine, replaceMeanwhile)).rejects.toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED' })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(newer)
  expect(readdirSync(join(path, '..'))).toEqual(['locator.json'])
})

test('publishes when the old locator was removed while it looked at it', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  writePrivate(path, theirs)
  await publishLocator(path, mine, async () => {
    rmSync(path)
    return true
  })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(mine)
})

test('leaves a stale locator to the one that has claimed it, and names the claim', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  writePrivate(path, theirs)
  const claim = claimOn(path)
  await expect(publishLocator(path, mine, gone)).rejects.toMatchObject({
    code: 'CUSTODY_PUBLICATION_FAILED',
    hint: expect.stringContaining(claim),
  })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(theirs)
})

test('publishes where the one that has claimed the old locator has taken it away', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  writePrivate(path, theirs)
  claimOn(path)
  const takeAway = async () => {
    rmSync(path)
    return true
  }
  await publishLocator(path, mine, takeAway)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(mine)
})

test('says which directory is missing', () => {
  const path = join(temporaryDirectory(), 'missing', 'locator.json')
  expect(() => canonicalPath(path)).toThrow(
    expect.objectContaining({ code: 'CUSTODY_PUBLICATION_FAILED', facts: { path, reason: expect.stringContaining('ENOENT') } }),
  )
})

test('refuses a path that is not UTF-8, which could not be opened again', () => {
  const directory = temporaryDirectory()
  const odd = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x80, 0xff])])
  mkdirSync(odd)
  symlinkSync(odd, join(directory, 'link'))
  expect(() => canonicalPath(join(directory, 'link', 'locator.json'))).toThrow(/its path is not UTF-8/)
})

test('says without the token that a directory takes no files', async () => {
  // A directory of sysfs takes none, not even from root.
  const path = '/sys/kernel/locator.json'
  const error = await publishLocator(path, mine, neverAsked).catch((thrown: Error) => thrown)
  expect(error).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED', message: expect.stringContaining(path) })
  const { message, stack, cause } = error as Error
  expect([message, stack, String((cause as Error).stack), JSON.stringify(error), JSON.stringify(cause)].join()).not.toContain(
    mine.token,
  )
})

test('publishes nothing that would be too long to be read', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  const long = sampleLocator({ details: { text: 'x'.repeat(16 * 1024) } })
  await expect(publishLocator(path, long, neverAsked)).rejects.toMatchObject({
    code: 'CUSTODY_PUBLICATION_FAILED',
    message: expect.stringMatching(/it would have \d+ bytes, and a locator may have 16384/),
  })
  expect(readdirSync(join(path, '..'))).toEqual([])
})

test('resolves the parent and keeps the last part of a path', () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'real'))
  symlinkSync(join(directory, 'real'), join(directory, 'link'))
  expect(canonicalPath(join(directory, 'link', 'locator.json'))).toBe(join(directory, 'real', 'locator.json'))
})

test('withdraws its own locator', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  const publication = await publishLocator(path, mine, neverAsked)
  expect(publication.withdraw()).toBe(true)
  expect(readdirSync(join(path, '..'))).toEqual([])
  expect(publication.withdraw()).toBe(false)
})

test('leaves the locator of another instance at its path alone', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  const publication = await publishLocator(path, mine, neverAsked)
  const text = writePrivate(path, theirs)
  expect(publication.withdraw()).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('leaves its own locator alone when somebody has renamed it', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  const publication = await publishLocator(path, mine, neverAsked)
  renameSync(path, `${path}.renamed`)
  expect(publication.withdraw()).toBe(false)
  expect(readdirSync(join(path, '..'))).toEqual(['locator.json.renamed'])
})

test('withdraws nothing when the whole directory has gone', async () => {
  const path = join(temporaryDirectory(), 'locator.json')
  const publication = await publishLocator(path, mine, neverAsked)
  rmSync(join(path, '..'), { recursive: true })
  expect(publication.withdraw()).toBe(false)
})
