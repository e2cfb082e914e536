import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sampleLocator } from '../../runtime/sample-locator.js'
import { type ExpectedReceipt, type Row, unreachable } from '../row.js'

// B51, B52. What a runtime leaves that was killed, or a disk that was full.

const invalid = (reason: RegExp): ExpectedReceipt => ({
  name: null,
  verdict: 'invalid',
  reason,
  evidence: { source: 'glob', answer: null, identity: null },
})

const gone: ExpectedReceipt = {
  name: 'forged',
  verdict: 'gone',
  reason: /^its process has ended$/,
  evidence: { answer: 'none', recorded: 'gone' },
}

const whole = JSON.stringify(sampleLocator())

export const remains: readonly Row[] = [
  {
    title: 'an empty locator',
    expected: [invalid(/^it is empty/)],
    arrange: async (stage) => stage.write('torn.json', ''),
  },
  {
    title: 'half a locator',
    expected: [invalid(/JSON/)],
    arrange: async (stage) => stage.write('torn.json', whole.slice(0, whole.length / 2)),
  },
  {
    title: 'a locator of more than 16 KiB',
    expected: [invalid(/^it has more than 16384 bytes$/)],
    arrange: async (stage) => stage.write('torn.json', whole + ' '.repeat(16_384)),
  },
  {
    title: 'a locator without a socket, and a stranger that has its pid',
    expected: [gone],
    async arrange(stage) {
      const { pid } = await stage.startStranger()
      stage.put({ pid, start: '1', endpoint: `unix:${stage.directory()}/none.sock` })
    },
  },
  {
    title: 'a socket that is a regular file',
    expected: [gone],
    async arrange(stage) {
      const socket = join(stage.directory(), 'a.sock')
      writeFileSync(socket, '')
      stage.put({ ...(await stage.startGone()), endpoint: `unix:${socket}` })
    },
  },
  {
    title: 'a socket whose listener has ended, and a process that has not',
    expected: [
      {
        ...gone,
        verdict: 'unreachable',
        reason: /^nobody answers there, and its process is alive$/,
        evidence: { answer: 'none', recorded: 'alive' },
      },
    ],
    failure: unreachable,
    async arrange(stage) {
      const dead = await stage.startRuntime('ours', 'another run')
      dead.program.child.kill('SIGKILL')
      await dead.program.exited
      const { pid, start } = await stage.startStranger()
      stage.put({ pid, start, endpoint: dead.locator.endpoint })
    },
  },
  {
    title: 'a locator of another boot, and a live process of its pid and start',
    expected: [{ ...gone, reason: /^it ran before the last boot/, evidence: { answer: 'none', recorded: 'other boot' } }],
    async arrange(stage) {
      const { pid, start } = await stage.startStranger()
      stage.put({ pid, start, boot: 'another', endpoint: `unix:${stage.directory()}/none.sock` })
    },
  },
]
