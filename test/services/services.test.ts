import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '../contract/alive.js'
import { readNoted } from '../contract/noted.js'
import { describeRunners, shareSuite } from '../contract/run-suite.js'
import { insideOf } from './inside-of.js'
import { type Prepared, prepareServices } from './prepare-services.js'

let prepared: Prepared
beforeAll(async () => {
  prepared = await prepareServices()
}, 60_000)
afterAll(() => prepared.remove(), 60_000)

describeRunners('a real service', (runner) => {
  const suite = shareSuite(runner, () => ({
    env: prepared.env,
    files: {
      daemons: `
        ${insideOf(runner)}
        for (const [name, { answer, pidFile, question }] of Object.entries(services)) {
          const [own, foreign] = [directoryOf(name), path.join(home, 'foreign-' + name)]
          let pids
          test(name + ' daemonizes', async () => {
            const { pid, ports } = await custody.start(specOf(name, true, own))
            note('pids of ' + name, [pid, pidIn(path.join(own, pidFile))])
            pids = noteTree(name, pid)
            note('size of ' + name, pids.length)
            const heard = await say(ports.main, question)
            heard.socket.destroy()
            expect(heard.answer.startsWith(answer)).toBe(true)
            // What a copy of another's directory brings along.
            fs.cpSync(foreign, path.join(own, 'copy'), { recursive: true })
            fs.copyFileSync(path.join(foreign, pidFile), path.join(own, pidFile))
          })
          test(name + ' is gone', () => expect(pids.filter(isAlive)).toEqual([]))
          test(name + ' is stopped by hand', async () => {
            const { pid, stop } = await custody.start(specOf(name, true, own + '-again'))
            pids = noteTree(name, pid)
            expect(await stop()).toMatchObject({ forced: false, left: [] })
            expect(pids.filter(isAlive)).toEqual([])
          })
        }`,
      foreground: `
        ${insideOf(runner)}
        for (const name of Object.keys(services)) {
          test(name + ' in the foreground', async () => {
            const spec = specOf(name, false, directoryOf(name) + '-foreground')
            const { pid } = await custody.start({ ...spec, name: name + '-foreground' })
            noteTree(name, pid)
          })
        }`,
    },
  }))
  const passed = (title: string) => expect(suite().test(title), suite().output).toMatchObject({ status: 'passed' })

  describe.each(['redis', 'nginx', 'postgres'])('%s', (name) => {
    const polite = () => ({ forced: false, left: [], signals: [prepared.services[name]?.stopSignal] })

    // B20, B28
    test('that daemonizes is the process that the kernel shows, not the command that has left', () => {
      passed(`${name} daemonizes`)
      const [pid, written] = suite().notes[`pids of ${name}`] as [number, number]
      expect(pid).toBe(written)
      expect(suite().notes[`size of ${name}`]).toBeGreaterThanOrEqual(prepared.services[name]?.processes ?? Infinity)
      expect(suite().receiptsOf(name)[0]?.identity?.pid).toBe(pid)
    })

    test('that daemonizes is gone after its test, politely, though the pid file in its directory is that of another', () => {
      passed(`${name} is gone`)
      expect(suite().receiptsOf(name)).toMatchObject([polite(), polite()].map((receipt) => ({ ...receipt, exit: 'observed' })))
    })

    test('that daemonizes is gone when stop resolves', () => passed(`${name} is stopped by hand`))

    test('in the foreground leaves politely too', () => {
      passed(`${name} in the foreground`)
      expect(suite().receiptsOf(`${name}-foreground`)).toMatchObject([{ ...polite(), exit: { code: 0 } }])
    })

    test('leaves none of its processes', () => expect(readNoted(suite().directory).filter(isAlive)).toEqual([]))

    test('of somebody else, by the same program, user and arguments, lives on', async () => {
      expect(suite().exitCode, suite().output).toBe(0)
      await prepared.expectUntouched(name)
    })
  })
})
