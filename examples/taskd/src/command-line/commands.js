import { userInfo } from 'node:os'
import { askServer } from '../client/ask-server.js'
import { stopServer } from '../client/stop-server.js'
import { watchEvents } from '../client/watch-events.js'
import { lease, task, ttl } from './options.js'
import { printEvent, printLease, printServer, printStopped, printTask, printTasks } from './print.js'
import { showStatus } from './show-status.js'

/**
 * @typedef {{ home: string, wishes: import('../client/reach-server.js').Wishes, values: Record<string, any>, argument: string }} Context
 * @typedef {object} Command
 * @property {string} usage
 * @property {string} summary
 * @property {string} [argument] what its one argument is
 * @property {Record<string, object>} options
 * @property {string[]} required
 * @property {(context: Context) => AsyncIterable<any>} run its answers, each printed when it is there
 * @property {(answer: any) => string} print
 */

/** @type {Record<string, Command>} */
export const commands = {
  add: {
    usage: 'add <title>',
    summary: 'add a task',
    argument: 'title',
    options: {},
    required: [],
    run: once(({ home, wishes, argument }) => askServer(home, wishes, 'POST', '/tasks', { title: argument })),
    print: printTask,
  },
  list: {
    usage: 'list',
    summary: 'list all tasks',
    options: {},
    required: [],
    run: once(({ home, wishes }) => askServer(home, wishes, 'GET', '/tasks')),
    print: printTasks,
  },
  lease: {
    usage: 'lease --task <id> [--holder <name>] [--ttl-ms <n>]',
    summary: 'take a task for a while; the answer has the lease that renew and complete need',
    options: { ...task, ...ttl, holder: { type: 'string' } },
    required: ['task'],
    run: once((context) =>
      act('lease', context, { holder: context.values.holder ?? userInfo().username, ttlMs: context.values.ttlMs }),
    ),
    print: printLease,
  },
  renew: {
    usage: 'renew --task <id> --lease <lease> [--ttl-ms <n>]',
    summary: 'hold a task for longer',
    options: { ...task, ...lease, ...ttl },
    required: ['task', 'lease'],
    run: once((context) => act('renew', context, { lease: context.values.lease, ttlMs: context.values.ttlMs })),
    print: printLease,
  },
  complete: {
    usage: 'complete --task <id> --lease <lease>',
    summary: 'say that a task is done',
    options: { ...task, ...lease },
    required: ['task', 'lease'],
    run: once((context) => act('complete', context, { lease: context.values.lease })),
    print: printTask,
  },
  copy: {
    usage: 'copy --task <id> [--lease <lease>]',
    summary: 'add a copy of a task, with the history of its leases',
    options: { ...task, ...lease },
    required: ['task'],
    run: once((context) => act('copy', context, { lease: context.values.lease })),
    print: printTask,
  },
  pause: {
    usage: 'pause --task <id> [--off] [--lease <lease>]',
    summary: 'keep a task from being taken, and end its lease; --off opens it again',
    options: { ...task, ...lease, off: { type: 'boolean' } },
    required: ['task'],
    run: once((context) => act('pause', context, { lease: context.values.lease, off: context.values.off })),
    print: printTask,
  },
  status: {
    usage: 'status [--task <id>]',
    summary: 'show the server, or one task; changes nothing',
    options: task,
    required: [],
    run: once(showStatus),
    print: (answer) => ('server' in answer ? printServer(answer) : printTask(answer)),
  },
  watch: {
    usage: 'watch [--count <n>]',
    summary: 'print events as they happen, n of them or until the server leaves',
    options: { count: { type: 'string' } },
    required: [],
    async *run({ home, wishes, values }) {
      let left = values.count ?? Infinity
      for await (const event of watchEvents(home, wishes)) {
        yield event
        if (event.event !== 'watching' && --left === 0) return
      }
    },
    print: printEvent,
  },
  stop: {
    usage: 'stop',
    summary: 'stop the server when it has done what it accepted',
    options: {},
    required: [],
    run: once(({ home }) => stopServer(home)),
    print: printStopped,
  },
}

/** A command with one answer. @param {(context: Context) => Promise<any>} answer */
function once(answer) {
  /** @param {Context} context */
  return async function* (context) {
    yield await answer(context)
  }
}

/** @param {string} action @param {Context} context @param {object} body */
function act(action, { home, wishes, values }, body) {
  return askServer(home, wishes, 'POST', `/tasks/${encodeURIComponent(values.task)}/${action}`, body)
}
