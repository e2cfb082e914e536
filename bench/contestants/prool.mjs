// An instance of one's own, with the helper that prool's instances use.
import { Instance } from 'prool'
import { execa } from '../node_modules/prool/dist/processes/execa.js'

/** @throws on Node 20, which it does not support */
export function open() {
  if (Promise.withResolvers === undefined) throw new Error('it needs Node 22')
}

const define = Instance.define(({ command: [file, ...args], name, port, readyText }) => {
  const subprocess = execa({ name })
  return {
    name,
    host: '127.0.0.1',
    port,
    start: (_options, context) =>
      subprocess.start((run) => run(file, args), {
        ...context,
        resolver: ({ process, resolve }) =>
          process.stdout.on('data', (text) => {
            if (String(text).includes(readyText)) resolve()
          }),
      }),
    stop: () => subprocess.stop(),
  }
})

export async function start(server) {
  const instance = define(server)
  await instance.start()
  return { stop: () => instance.stop() }
}
