import type { RunnerName } from '../contract/run-suite.js'

const head: Record<RunnerName, string> = {
  vitest: `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)`,
  jest: '',
}

/** For the inside of a test file: the services, what starts one in a directory of its own, and what notes all of its processes. */
export function insideOf(runner: RunnerName): string {
  return `
  ${head[runner]}
  const { home, say, services, sessionOf } = require(process.env.SERVICES_FILE)
  const directoryOf = (name) => path.join(home, path.basename(process.cwd()) + '-' + name)
  const specOf = (service, isDaemon, directory) => ({
    name: service, cwd: home, ports: ['main'], stopSignal: services[service].stopSignal, daemonizes: isDaemon,
    // It listens before it can serve, and whoever is asked to leave in between leaves with another code.
    ready: [{ port: 'main' }, ...(!isDaemon && services[service].readyLine ? [{ log: services[service].readyLine }] : [])],
    command: ({ ports }) => services[service].command(directory, ports.main, { isDaemon }),
  })
  /** Null of a process that is gone. */
  const read = (pid, file) => {
    try {
      return fs.readFileSync('/proc/' + pid + '/' + file, 'latin1')
    } catch (error) {
      if (['ENOENT', 'ESRCH'].includes(error.code)) return null
      throw error
    }
  }
  const startOf = (pid) => {
    const stat = read(pid, 'stat')
    return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  }
  const childrenOf = (pid) => (read(pid, 'task/' + pid + '/children') ?? '').split(' ').filter(Boolean).map(Number)
  const treeOf = (pid) => [pid, ...childrenOf(pid).flatMap(treeOf)]
  const noteTree = (name, pid) => {
    const pids = treeOf(pid)
    // A server ends some helpers of its start by itself.
    const noted = pids.map((each) => [each, startOf(each)]).filter(([, start]) => start !== null)
    for (const line of noted) fs.appendFileSync('noted-' + name, line.join(' ') + '\\n')
    return noted.map(([each]) => each)
  }
  const pidIn = (file) => Number(fs.readFileSync(file, 'utf8').split('\\n')[0])`
}
