import { readFileSync, writeFileSync } from 'node:fs'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { type ExpectedReceipt, type Row, unreachable } from '../row.js'
import type { Stage } from '../stage.js'

// B41. What a locator has for a pid is a number, and a number is anybody's.

const silent = (stage: Stage) => `unix:${stage.directory()}/none.sock`

function expect(verdict: ExpectedReceipt['verdict'], reason: RegExp, evidence: ExpectedReceipt['evidence']): ExpectedReceipt {
  return { name: verdict === 'invalid' ? null : 'forged', verdict, reason, evidence }
}

const none = expect('gone', /^its process has ended$/, { answer: 'none', recorded: 'gone' })
const invalid = expect('invalid', /pid/, { answer: null, identity: null })

const ofNobody: readonly Row[] = [0, -1, '12abc', 1.5, null, 2 ** 32 + 1, 2 ** 22 + 1].map((pid) => ({
  title: `the pid ${JSON.stringify(pid)}`,
  expected: [typeof pid === 'number' && pid > 1 && Number.isInteger(pid) ? none : invalid],
  isApart: true,
  async arrange(stage) {
    await stage.startStranger()
    stage.put({ pid, start: ownIdentity().start, endpoint: silent(stage) })
  },
}))

/** The process in which the test runs, its parent, and those above. */
const ofTheRun: readonly Row[] = (
  [
    ['the process of the test', ({ place }) => place.pid, /^it is this process: it runs inside the test run$/, false],
    ['its parent', ({ place }) => parentOf(place.pid), /^it is (the runner|an ancestor): it runs inside the test run$/, false],
    ['the process that has started the runner', () => process.pid, /^it is (an ancestor|this process)/, true],
    ['the first process', () => 1, /^it is an ancestor/, true],
  ] as const satisfies readonly (readonly [string, (stage: Stage) => number, RegExp, boolean])[]
).flatMap(([who, find, reason, isApart]): Row[] => [
  {
    title: `the pid and start of ${who}`,
    expected: [expect('foreign', reason, { answer: null, recorded: 'alive' })],
    isApart,
    async arrange(stage) {
      const pid = find(stage)
      stage.put({ pid, start: runtimePlatform.readStart(pid), endpoint: await stage.listen(() => {}) })
    },
  },
  {
    title: `the pid of ${who}, with another start`,
    expected: [none],
    isApart,
    arrange: async (stage) => stage.put({ pid: find(stage), start: '1', endpoint: silent(stage) }),
  },
])

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** Some first numbers are those of the kernel's own threads: they have no program, and no signal ends them. */
function findKernelThread(): number | null {
  const isThread = (pid: number) => runtimePlatform.readStart(pid) !== null && readFileSync(`/proc/${pid}/cmdline`).length === 0
  return Array.from({ length: 9 }, (_, at) => at + 2).find(isThread) ?? null
}

const ofKernel: readonly Row[] = [findKernelThread()].flatMap((pid) =>
  pid === null
    ? []
    : {
        title: 'the pid and start of a kernel thread',
        expected: [expect('foreign', /^it was there before this run$/, { answer: null, isOlderThanRun: true })],
        coreAlone: 'a namespace of pids, which the runners have here for themselves, has none',
        arrange: async (stage: Stage) => stage.put({ pid, start: runtimePlatform.readStart(pid), endpoint: silent(stage) }),
      },
)

const lastPid = '/proc/sys/kernel/ns_last_pid'

/** Has the kernel give the number of one that has ended to a stranger; null when somebody else was faster. */
async function startStrangerAs(stage: Stage, pid: number): Promise<{ start: string | null } | null> {
  writeFileSync(lastPid, String(pid - 1))
  const program = stage.spawn('processes/keeping-a-record.sh', {})
  await program.printed(/ready/)
  if (program.pid !== pid) return null
  stage.watch('stranger', program)
  return { start: runtimePlatform.readStart(pid) }
}

/** A runtime in a namespace of pids below, where its number is the given one. */
const below = (pid: number) => [
  ...['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '/bin/sh', '-c'],
  ...[`echo ${pid - 1} > ${lastPid}; "$@"; exit $?`, 'sh'],
]

// From level 1 on the kernel shows who listens there all the same.
const unseen = { answer: 'authentic', recorded: 'unknowable' } as const

const ofAnother: readonly Row[] = [
  {
    title: 'the pid of its own runtime, which was killed, and whose number a stranger has now',
    expected: [
      {
        name: 'ours',
        verdict: 'gone',
        reason: /^its process has ended$/,
        evidence: { answer: 'none', recorded: 'gone' },
        exit: 'observed',
      },
    ],
    isApart: true,
    async arrange(stage) {
      for (;;) {
        const { locator, program } = await stage.startRuntime('ours', 'claimed', { home: stage.found })
        program.child.kill('SIGKILL')
        await program.exited
        const stranger = await startStrangerAs(stage, program.pid)
        if (stranger === null) continue
        if (stranger.start === null || stranger.start === locator.start) throw new Error(`The same start: ${locator.start}`)
        return
      }
    },
  },
  {
    title: 'the pid of a stranger, in another namespace of pids',
    expected: [
      { name: 'theirs', verdict: 'foreign', reason: /^it belongs to the namespace/, evidence: { ...unseen, isInScope: false } },
    ],
    isApart: true,
    async arrange(stage) {
      const { pid } = await stage.startStranger()
      const { locator } = await stage.startRuntime('theirs', 'another run', { home: stage.found, wrapper: below(pid) })
      if (locator.pid !== pid) throw new Error(`The numbers differ: ${locator.pid} and ${pid}`)
    },
  },
  {
    title: 'the pid and start of a stranger, said to be of another namespace of pids',
    expected: [
      expect('unreachable', /^nobody answers there, and whether its process is alive cannot be seen from here$/, {
        answer: 'none',
        recorded: 'unknowable',
      }),
    ],
    failure: unreachable,
    isApart: true,
    async arrange(stage) {
      const { pid, start } = await stage.startStranger()
      stage.put({ pid, start, pidns: 'pid:[1]', endpoint: silent(stage) })
    },
  },
]

export const numbers: readonly Row[] = [...ofNobody, ...ofTheRun, ...ofKernel, ...ofAnother]
