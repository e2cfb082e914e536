import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { isAlive } from './alive.js'
import { readNoted } from './noted.js'
import { type RunningSuite, runners, shareSuite } from './run-suite.js'

const programs = resolve(import.meta.dirname, '../programs')
const server = join(programs, 'servers/answering-http.js')

/** For the inside of a test file: starts a program of test/programs/trees, and tells which processes of it are alive. */
const trees = `
  const noted = (name) => fs.readFileSync('noted-' + name, 'utf8').trim().split('\\n').map((line) => line.split(' '))
  const notedOfAll = (name) => fs.readdirSync('.').filter((file) => file.startsWith('noted-' + name)).flatMap((file) => noted(file.slice(6)))
  const stateOf = (pid, start) => {
    try {
      const stat = fs.readFileSync('/proc/' + pid + '/stat', 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[19] === start ? fields[0] : null
    } catch { return null }
  }
  const aliveOf = (name) => notedOfAll(name).filter(([pid, start]) => ![null, 'Z', 'X'].includes(stateOf(pid, start))).length
  const tree = (program, { name = program, args = [], ...more } = {}) => custody.start({
    name, graceMs: 1_000, ready: { log: program === 'one-of-each' ? 'one of each' : 'up' }, ...more,
    command: ['sh', path.join(programs, 'trees', program + '.sh'), path.resolve('noted-' + name), ...args],
  })
  const stopped = async (name, { stop }) => {
    const { forced, signals } = await stop()
    note(name, { alive: aliveOf(name), forced, noted: notedOfAll(name).length, signals })
  }`

/** How each kind of tree must end; in \`noted\` those that it has had. */
const kinds = {
  staying: { noted: 1, forced: false },
  // B82
  'ignoring-term': { noted: 1, forced: true },
  // B18
  'grouping-apart': { noted: 3, forced: true },
  'setsid-child': { noted: 2, forced: true },
  'double-forking': { noted: 2, forced: true },
  stopped: { noted: 1, forced: false },
  wrapping: { noted: 2, forced: false },
  // B21
  'clearing-its-environment': { noted: 2, forced: true },
  'closing-its-descriptors': { noted: 2, forced: true },
  preforking: { noted: 5, forced: false },
} as const

describe.each(runners.filter((runner) => runner === 'vitest'))('%s', (runner) => {
  // With what a machine has beyond plain Node, and without it.
  describe.each(['0', '1', '2'])('a tree that is stopped, at level %s at most', (level) => {
    const suite = shareSuite(runner, () => ({
      args: ['--maxWorkers=2'],
      env: { CUSTODY_LEVEL: level },
      files: {
        kinds: `
          ${trees}
          for (const [kind, { forced }] of Object.entries(${JSON.stringify(kinds)})) test(kind, async () => {
            // Who obeys has time to, on a busy machine too.
            const graceMs = forced ? 1_000 : 20_000
            await stopped(kind, await tree(kind, { graceMs, ...(kind === 'staying' && { ready: { log: 'stays' } }) }))
          })
          test('forking-on-term', async () => stopped('forking-on-term', await tree('forking-on-term')))
          test('loses its master', async () => {
            const runtime = await tree('preforking', { name: 'orphaned', onExit: 'ignore', graceMs: 20_000 })
            process.kill(runtime.pid, 'SIGKILL')
            await runtime.exited
            expect(aliveOf('orphaned')).toBe(4)
            await stopped('orphaned', runtime)
          })
          test('cleans up', async () => {
            const runtime = await tree('wrapping', { name: 'cleaning-up', args: ['cleaning-up'], graceMs: 10_000 })
            expect(fs.existsSync('noted-cleaning-up.marker')).toBe(true)
            const { forced, signals, steps } = await runtime.stop()
            const asked = fs.readFileSync('noted-cleaning-up.asked', 'utf8')
            note('cleaning-up', { asked, forced, isMarked: fs.existsSync('noted-cleaning-up.marker'), signals, isInTime: steps.at(-1).atMs >= 1_450 })
          })
          test('is beside another', async () => {
            const [a, b] = await Promise.all(['a', 'b'].map((name) => tree('one-of-each', { name })))
            await a.stop()
            note('beside', { a: aliveOf('a'), b: aliveOf('b'), noted: notedOfAll('b').length })
          })
          test('is read by others', async () => {
            const { log, stop } = await tree('staying', { name: 'read', ready: { log: 'stays' } })
            const descriptor = fs.openSync(log.path, 'r')
            const tail = spawn('tail', ['-f', log.path], { env: { ...process.env, CUSTODY_NAMESPACE: '' }, stdio: 'ignore' })
            await new Promise((resolve) => tail.once('spawn', resolve))
            // A descriptor may be closed between the list and the look.
            const targetOf = (fd) => { try { return fs.readlinkSync('/proc/' + tail.pid + '/fd/' + fd) } catch { return null } }
            while (!fs.readdirSync('/proc/' + tail.pid + '/fd').some((fd) => targetOf(fd) === log.path)) ;
            await stop()
            note('read', [tail.exitCode, tail.signalCode])
            fs.closeSync(descriptor)
            tail.kill()
          })`,
        servers: `
          const servers = path.join(programs, 'servers')
          const server = path.join(servers, 'answering-http.js')
          const ask = async (url) => Number(await (await fetch(url)).text())
          const http = { ports: ['http'], ready: { http: '/' } }
          for (const line of ['node ' + server, 'exec node ' + server, 'node ' + server + '; true'])
            test('sh -c "' + line.replace(server, 'server.js') + '"', async () => {
              const { stop, url } = await custody.start({ name: 'wrapped', command: ['sh', '-c', line], ...http })
              const pid = await ask(url)
              expect(isAlive(pid)).toBe(true)
              expect(await stop()).toMatchObject({ forced: false, signals: ['SIGTERM'] })
              expect(isAlive(pid)).toBe(false)
            })
          test('floods', async () => {
            const { log, pid, stop, url } = await custody.start({ name: 'floods', command: ['node', path.join(servers, 'flooding.js')], ...http })
            expect([await ask(url), await ask(url)]).toEqual([pid, pid])
            expect(log.tail(1)).toBe('x'.repeat(1023))
            expect(await stop()).toMatchObject({ forced: false })
          })
          const daemonizing = { name: 'daemonizes', command: ['sh', '-c', 'setsid node ' + server + ' &'], daemonizes: true, ports: ['http'], ready: { port: 'http' } }
          test('daemonizes', async () => {
            const { pid, stop, url } = await custody.start(daemonizing)
            expect(await ask(url)).toBe(pid)
            expect(await stop()).toMatchObject({ forced: false, signals: ['SIGTERM'], left: [] })
            expect(isAlive(pid)).toBe(false)
          })
          test('daemonizes and is crashed', async () => {
            const { crash, pid } = await custody.start(daemonizing)
            await crash()
            while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
          })
          test('daemonizes until its test ends', async () => { note('daemon', (await custody.start(daemonizing)).pid) })`,
      },
    }))
    const passed = (title: string) => expect(suite().test(title), suite().output).toMatchObject({ status: 'passed' })

    test.each(Object.entries(kinds))('is gone when stop resolves: %s', (kind, { forced, noted }) => {
      const signals = forced ? ['SIGTERM', 'SIGKILL'] : ['SIGTERM']
      expect(suite().notes[kind], suite().output).toEqual({ alive: 0, forced, noted, signals })
    })

    test('is gone with what it has started because it was asked to leave', () => {
      expect(suite().notes['forking-on-term'], suite().output).toMatchObject({ alive: 0, forced: true })
      expect(readNoted(suite().directory).filter(isAlive)).toEqual([])
    })

    // B31
    test('is gone without its master, politely', () => {
      expect(suite().notes['orphaned'], suite().output).toEqual({ alive: 0, forced: false, noted: 5, signals: ['SIGTERM'] })
    })

    // B81
    test('is asked once, also behind a shell of its group, and has time to clean up', () => {
      const quiet = { forced: false, signals: ['SIGTERM'] }
      expect(suite().notes['cleaning-up'], suite().output).toEqual({ asked: 'TERM\n', isInTime: true, isMarked: false, ...quiet })
    })

    test('leaves another tree of the same supervisor whole', () => {
      // Of 19 processes one was killed by its own parent.
      expect(suite().notes['beside'], suite().output).toEqual({ a: 0, b: 18, noted: 19 })
    })

    test('leaves those alone who only read its log', () => {
      passed('is read by others')
      expect(suite().notes['read']).toEqual([null, null])
    })

    // B17
    test.each(['node server.js', 'exec node server.js', 'node server.js; true'])('is gone with its shell: sh -c "%s"', (line) => {
      passed(`sh -c "${line}"`)
    })

    // B72
    test('may write megabytes before it listens', () => passed('floods'))

    // B20, B73
    test('may be a daemon that holds the output of a command that has left', () => {
      passed('daemonizes')
      passed('daemonizes until its test ends')
      const receipt = suite().receiptsOf('daemonizes').at(-1)
      expect(receipt).toMatchObject({ exit: 'observed', forced: false, left: [], signals: ['SIGTERM'] })
    })

    test('may be such a daemon that is crashed', () => passed('daemonizes and is crashed'))
  })

  // B29
  describe('a server behind the commands of npm', () => {
    const suite = shareSuite(runner, () => ({
      extras: {
        'package.json': JSON.stringify({ scripts: { start: `node ${server}` } }),
        'shim.js': `require('node:child_process').spawnSync('node', [${JSON.stringify(server)}], { stdio: 'inherit' })`,
      },
      files: {
        npm: `
          fs.mkdirSync('node_modules/.bin', { recursive: true })
          fs.writeFileSync('node_modules/.bin/serve-it', '#!/bin/sh\\nnode ' + ${JSON.stringify(server)} + '\\n', { mode: 0o755 })
          const commands = { 'npm start': ['npm', 'run', 'start'], npx: ['npx', '--no-install', 'serve-it'], shim: ['node', 'shim.js'] }
          for (const [name, command] of Object.entries(commands))
            test(name, async () => {
              const { pid, stop, url } = await custody.start({ name: 'wrapped', command, ports: ['http'], ready: { http: '/' } })
              const serving = Number(await (await fetch(url)).text())
              expect(serving).not.toBe(pid)
              const { forced, left, signals } = await stop()
              note(name, { areAlive: [pid, serving].map(isAlive), forced, left, signals })
            })`,
      },
    }))

    test.each(['npm start', 'npx', 'shim'])('is gone with them, politely: %s', (name) => {
      expect(suite().notes[name], suite().output).toEqual({
        ...{ areAlive: [false, false], forced: false, left: [], signals: ['SIGTERM'] },
      })
    })
  })

  // B22
  describe('a tree on a machine whose tools tell nothing', () => {
    const tools = 'ps pgrep pkill killall lsof fuser ss netstat'
    const script = `mkdir tools; for tool in ${tools}; do printf '#!/bin/sh\necho %s >> %s/asked\nexit 1\n' $tool "$PWD" > tools/$tool; done
      chmod +x tools/*; PATH=$PWD/tools:$PATH exec "$@"`
    const suite = shareSuite(runner, () => ({
      wrapper: ['sh', '-c', script, 'sh'],
      files: {
        tools: `
          ${trees}
          test('has everything', async () => stopped('everything', await tree('one-of-each', { name: 'everything' })))
          test('has ports', async () => {
            const command = ['node', path.join(programs, 'servers/answering-http.js')]
            await custody.start({ name: 'server', command, ports: ['http'], ready: { http: '/' } })
            childProcess.spawnSync('ps')
          })`,
      },
    }))

    test('is gone all the same, and none of them is asked', () => {
      const { directory, exitCode, notes, output } = suite()
      expect(exitCode, output).toBe(0)
      expect(notes['everything']).toMatchObject({ alive: 0 })
      // By the suite itself, which shows that this would be seen.
      expect(readFileSync(join(directory, 'asked'), 'utf8')).toBe('ps\n')
    })
  })

  // B25
  describe('a process that is replaced every millisecond, each time in a session of its own,', () => {
    const storm = join(programs, 'processes/replacing-itself.py')
    /** Whoever is left of it holds the lock of a file, by a descriptor that all have inherited. */
    const command = (held: string) => ['sh', '-c', `exec 8>${held}; flock -s 8; exec python3 ${storm} 1`]
    const isFree = (directory: string, held: string) =>
      spawnSync('flock', ['-n', '-x', join(directory, held), 'true']).status === 0
    const suite = shareSuite(runner, () => ({
      // What a test leaves is for the run to end.
      options: { leaks: 'warn' },
      files: {
        storms: `
          const isFree = (held) => spawnSync('flock', ['-n', '-x', held, 'true']).status === 0
          const start = (held, argv) => custody.start({ name: held, command: argv, ready: { log: 'ready' }, daemonizes: true, graceMs: 500 })
          test('is stopped', async () => {
            const { stop } = await start('stopped', ${JSON.stringify(command('stopped'))})
            const wasFree = isFree('stopped')
            const { left } = await stop()
            note('stopped', { left, wasFree, isFree: isFree('stopped') })
          })
          test('is left to its scope', async () => { await start('scope', ${JSON.stringify(command('scope'))}) })
          test('is left to the run', async () => {
            const [file, ...args] = ${JSON.stringify(command('run'))}
            const child = spawn(file, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
            await new Promise((resolve) => child.stdout.once('data', resolve))
            child.stdout.destroy()
            note('run', isFree('run'))
          })`,
      },
    }))

    test('is gone when stop resolves', () => {
      expect(suite().notes['stopped'], suite().output).toEqual({ left: [], wasFree: false, isFree: true })
    })

    test('is gone with its scope, and with the run', () => {
      expect(suite().exitCode, suite().output).toBe(0)
      expect(suite().notes['run']).toBe(false)
      expect(['scope', 'run'].map((held) => isFree(suite().directory, held))).toEqual([true, true])
    })
  })

  // B90
  describe('a tree of a user without any privilege', () => {
    const none = ['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all']
    const suite = shareSuite(runner, () => ({
      wrapper: ['setpriv', '--no-new-privs', ...(process.geteuid?.() === 0 ? none : [])],
      files: {
        unprivileged: `
          ${trees}
          test('has everything', async () => {
            const { capabilities, noNewPrivileges } = /CapEff:\\s*(?<capabilities>\\w+)[^]*NoNewPrivs:\\s*(?<noNewPrivileges>\\d)/.exec(fs.readFileSync('/proc/self/status', 'utf8')).groups
            note('privileges', [Number(capabilities), Number(noNewPrivileges)])
            await stopped('everything', await tree('one-of-each', { name: 'everything' }))
          })
          test('leaves everything', async () => { await tree('one-of-each', { name: 'left' }) })`,
      },
    }))

    test('is gone all the same', () => {
      const { directory, exitCode, notes, output } = suite()
      expect(exitCode, output).toBe(0)
      expect(notes['privileges']).toEqual([0, 1])
      expect(notes['everything']).toMatchObject({ alive: 0 })
      expect(readNoted(directory).filter(isAlive)).toEqual([])
    })
  })

  // G08
  describe('a tree that is stopped with a debugger attached', () => {
    const suite = shareSuite(runner, () => ({
      env: { NODE_OPTIONS: '--inspect=0' },
      files: {
        debugged: `
          ${trees}
          test('takes its time', async () => {
            const runtime = await tree('wrapping', { name: 'debugged', args: ['cleaning-up'], graceMs: undefined })
            await stopped('debugged', runtime)
            note('debugger', (await import('node:inspector')).url() !== undefined)
          })`,
      },
    }))

    test('has all the time that it takes', () => {
      const { notes, output } = suite()
      expect(notes['debugger'], output).toBe(true)
      expect(notes['debugged'], output).toMatchObject({ alive: 0, forced: false, signals: ['SIGTERM'] })
    })
  })

  // B78
  describe('a tree whose dead nobody reaps', () => {
    const suite = shareSuite(runner, () => ({
      wrapper: ['python3', join(programs, 'reaping-nobody.py')],
      // From level 1 on the supervisor reaps them.
      env: { CUSTODY_LEVEL: '0' },
      files: {
        zombies: `
          ${trees}
          test('leaves zombies', async () => {
            const { stop } = await tree('double-forking')
            const { left } = await stop()
            note('states', notedOfAll('double-forking').map(([pid, start]) => stateOf(pid, start)).sort())
            note('left', left)
          })`,
      },
    }))

    test('has exited when only zombies are left', () => {
      expect(suite().test('leaves zombies').status, suite().output).toBe('passed')
      expect(suite().notes).toEqual({ left: [], states: ['Z', null] })
    })
  })

  // B56
  describe('a runtime that eight files ask for at the same moment', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const file = (name: string) => `
      const definition = { scope: 'run', name: 'shared', command: ['sh', path.join(programs, 'trees/staying.sh'), path.resolve('noted-shared')] }
      test('${name} asks', async () => {
        fs.writeFileSync('there-${name}', '')
        while (fs.readdirSync('.').filter((file) => file.startsWith('there-')).length < ${names.length})
          await new Promise((resolve) => setTimeout(resolve, 1))
        const { exited, pid } = await custody.shared(definition)
        note('${name}', pid)
        expect(isAlive(pid)).toBe(true)
      })`
    const suite = shareSuite(runner, () => ({
      args: [`--maxWorkers=${names.length}`],
      files: Object.fromEntries(names.map((name) => [name, file(name)])),
    }))

    test('is started once, and is one for all', () => {
      expect(suite().exitCode, suite().output).toBe(0)
      const [shared, ...others] = readNoted(suite().directory)
      expect(others).toEqual([])
      expect(suite().notes).toEqual(Object.fromEntries(names.map((name) => [name, shared?.pid])))
      expect(suite().receiptsOf('shared')).toMatchObject([{ forced: false, left: [] }])
    })
  })

  // B47, B60, B62. A foreign server of the same command, user and port survives all of it.
  describe('a port that a foreign server has taken', () => {
    const foreign: ChildProcess[] = []
    const suite = shareSuite(runner, () => ({
      files: {
        ports: `
          const ask = async (url) => Number(await (await fetch(url)).text())
          const servers = path.join(programs, 'servers')
          const take = (port) => {
            fs.writeFileSync('wanted-' + port, '')
            while (!fs.existsSync('taken-' + port)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
          }
          const start = (name, program, times) => {
            const asked = []
            const command = ({ ports: { http } }) => {
              asked.push(http)
              if (asked.length <= times) take(http)
              return ['node', path.join(servers, program)]
            }
            const runtime = custody.start({ name, command, ports: ['http'], ready: { http: '/' }, readyMs: 4_000 })
            return runtime.then(async ({ pid, ports, url }) => ({ asked, isOwn: pid === await ask(url), port: ports.http }))
              .catch(({ code, message }) => ({ asked, code, message }))
          }
          test('is taken once', async () => note('once', await start('once', 'answering-http.js', 1)))
          test('is taken from one who does not notice', async () => note('unnoticed', await start('unnoticed', 'living-on-without-its-port.js', 1)))
          test('is taken each time', async () => note('always', await start('always', 'living-on-without-its-port.js', 9)))`,
      },
      during: (running) => takePorts(running, foreign),
    }))
    afterAll(() => {
      for (const each of foreign) each.kill('SIGKILL')
    })

    test.each(['once', 'unnoticed'])('costs one more start, with another port: %s', (name) => {
      const { asked, isOwn, port } = suite().notes[name] as { asked: number[]; isOwn: boolean; port: number }
      expect(asked.length, JSON.stringify(suite().notes)).toBe(2)
      expect([isOwn, port]).toEqual([true, asked[1]])
      expect(asked[0]).not.toBe(asked[1])
    })

    test('makes the start fail, with the reason, when it is taken again', () => {
      const { asked, code, message } = suite().notes['always'] as { asked: number[]; code: string; message: string }
      expect([asked.length, code], JSON.stringify(suite().notes)).toEqual([2, 'CUSTODY_START_FAILED'])
      expect(message).toContain(`another process listens on port ${asked[1]}`)
    })

    test('stays with the foreign server', async () => {
      expect(foreign.map(({ exitCode, signalCode }) => [exitCode, signalCode])).toEqual(Array(4).fill([null, null]))
      const taken = readdirSync(suite().directory).flatMap((name) => /^taken-(\d+)$/.exec(name)?.[1] ?? [])
      const answers = await Promise.all(taken.map(async (port) => Number(await (await fetch(`http://127.0.0.1:${port}`)).text())))
      expect(answers.sort()).toEqual(foreign.map(({ pid }) => pid).sort())
    })
  })
})

/** Starts a foreign server on each port that a suite names by a file, until the suite has ended. */
async function takePorts({ directory, runner }: RunningSuite, foreign: ChildProcess[]): Promise<void> {
  while (runner.exitCode === null && runner.signalCode === null) {
    for (const name of readdirSync(directory)) {
      const port = /^wanted-(\d+)$/.exec(name)?.[1]
      if (port === undefined || existsSync(join(directory, `taken-${port}`))) continue
      const child = spawn('node', [server], {
        env: { ...process.env, PORT: port },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      foreign.push(child)
      await once(child.stdout as NodeJS.ReadableStream, 'data')
      writeFileSync(join(directory, `taken-${port}`), '')
    }
    await setTimeout(20)
  }
}
