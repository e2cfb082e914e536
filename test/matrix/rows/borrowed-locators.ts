import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, linkSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type ExpectedReceipt, type Row, unproven } from '../row.js'
import type { Birth, Runtime, Stage } from '../stage.js'

// B33. The true locator of a live stranger comes to lie where the test looks for its own.

interface Way {
  readonly title: string
  /** Whose locator. What is decided by something else than by that has a row for one of them. */
  readonly of: readonly Exclude<Birth, 'the test'>[]
  borrow(stage: Stage, runtime: Runtime): void
  /** Whether Custody is led to the very file that the stranger has published. */
  readonly isTruePath?: boolean
  readonly isLink?: boolean
  readonly isApart?: boolean
  /** Whether the stranger's own file is where it was. */
  readonly isMoved?: boolean
  readonly failure?: RegExp
}

const inPlace = ({ found }: Stage) => {
  mkdirSync(found, { recursive: true })
  return join(found, 'borrowed.json')
}

const ways: readonly Way[] = [
  {
    title: 'a copy of the locator',
    of: ['another run', 'nowhere', 'claimed'],
    borrow: (stage, { path }) => copyFileSync(path, inPlace(stage)),
  },
  {
    title: 'a hard link to the locator',
    of: ['another run', 'claimed'],
    borrow: (stage, { path }) => linkSync(path, inPlace(stage)),
  },
  {
    title: 'a symbolic link to the locator',
    of: ['claimed'],
    borrow: (stage, { path }) => symlinkSync(path, inPlace(stage)),
    isLink: true,
  },
  {
    // The true locator: of one that says it is of this test that would be owned, by whatever name its directory is found.
    title: 'a symbolic link to the directory of the locator',
    of: ['another run', 'nowhere'],
    borrow: ({ found }, { home }) => symlinkSync(home, found),
    isTruePath: true,
  },
  {
    title: 'a copy of the directory',
    of: ['another run', 'claimed'],
    borrow: ({ found }, { home }) => cpSync(home, found, { recursive: true, preserveTimestamps: true }),
  },
  {
    title: 'the directory itself, renamed',
    of: ['another run', 'nowhere', 'claimed'],
    borrow: ({ found }, { home }) => renameSync(home, found),
    isMoved: true,
  },
  {
    title: 'the locator itself, moved',
    of: ['another run', 'claimed'],
    borrow: (stage, { path }) => renameSync(path, inPlace(stage)),
    isMoved: true,
  },
  {
    title: 'the directory, mounted there too',
    of: ['another run', 'nowhere', 'claimed'],
    borrow: (stage, { home }) => {
      mkdirSync(stage.found)
      execFileSync('mount', ['--bind', home, stage.found])
      stage.onEnd(() => void execFileSync('umount', [stage.found]))
    },
    isApart: true,
    // Otherwise all that is in it would be removed with the namespace's directory.
    failure: /^Could not remove the namespace's directory .+: something is mounted at .+\/place\./,
  },
]

const owners = {
  'another run': 'a runtime of another run',
  nowhere: 'a runtime that was started by hand',
  claimed: 'a runtime that says it is of this test',
} as const

function expectedOf({ isLink, isTruePath = false }: Way, birth: Way['of'][number]): Omit<ExpectedReceipt, 'name'> {
  if (isLink) return { verdict: 'invalid', reason: /^it is a symbolic link$/, evidence: { answer: null, identity: null } }
  const evidence = { answer: 'authentic', statement: 'complete', isSeenAlive: true, born: 'no' } as const
  if (birth === 'another run')
    return {
      verdict: 'foreign',
      reason: /^it belongs to the namespace e{32}\.1\.1$/,
      evidence: { ...evidence, isInScope: false },
    }
  const isInScope = birth === 'claimed'
  if (isTruePath)
    return {
      verdict: 'unproven',
      reason: /^it was started without the/,
      evidence: { ...evidence, namespace: null, isPathEqual: true },
    }
  return {
    verdict: 'foreign',
    reason: /^it published .+, and this is .+/,
    evidence: { ...evidence, isInScope, isPathEqual: false },
  }
}

export const borrowedLocators: readonly Row[] = ways.flatMap((way) =>
  way.of.map((birth): Row => {
    const expected = expectedOf(way, birth)
    return {
      title: `${way.title}, of ${owners[birth]}`,
      expected: [{ name: way.isLink ? null : 'theirs', ...expected }],
      ...(expected.verdict === 'unproven' && { failure: unproven }),
      ...(way.failure !== undefined && { failure: way.failure }),
      isApart: way.isApart ?? false,
      async arrange(stage) {
        const runtime = await stage.startRuntime('theirs', birth)
        if (!way.isMoved) stage.watchFile(runtime.path)
        way.borrow(stage, runtime)
      },
    }
  }),
)
