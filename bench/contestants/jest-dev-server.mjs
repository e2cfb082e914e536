import jestDevServer from 'jest-dev-server'

export async function start({ command, port }) {
  const options = { command: command.join(' '), port, host: '127.0.0.1', usedPortAction: 'error', launchTimeout: 60_000 }
  const processes = await jestDevServer.setup(options)
  return { stop: () => jestDevServer.teardown(processes) }
}
